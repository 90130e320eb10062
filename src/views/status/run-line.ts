import { oneLine } from '../../kernel/text.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import { currentWork, isInStep, needOf } from '../../run/machine/position.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import { readState } from '../../run/store/state-store.ts'
import type { LineItem } from '../status-line.ts'

/** Never throws. */
export function runLineItems(folder: TaskFolder, task: string, session: string | undefined): LineItem[] {
  try {
    const state = readState(folder)
    if (state?.active !== true) return []
    const { hostSession } = state
    const isOurs = hostSession === undefined || session === undefined || hostSession === session
    const need = needOf(state)
    if (need.kind === 'approval') {
      return [{ kind: 'waiting', isOurs, text: `${task} waits for approval: ${oneLine(need.phase, 24)}` }]
    }
    if (need.kind === 'wait') return [{ kind: 'waiting', isOurs, text: `${task} waits: ${oneLine(need.wait.for, 40)}` }]
    return [{ kind: 'running', isOurs, text: runText(task, state) }]
  } catch {
    return [{ kind: 'unusable', isOurs: true, text: `${task} unreadable` }]
  }
}

function runText(task: string, state: WorkflowState): string {
  const inStep = isInStep(state)
  const work = currentWork(state)
  const [spent, limit] = inStep ? [work.attempts, work.maxAttempts] : [state.phaseAttempts, state.maxPhaseAttempts]
  const step = inStep ? ` ${work.step + 1}/${state.totalSteps}` : ''
  const text = `${task} ${oneLine(state.phase, 24)}${step}`
  if (state.inWork.length > 1) return `${text}, ${state.inWork.length} at once`
  return spent > 0 ? `${text}, attempt ${Math.min(spent + 1, limit)}/${limit}` : text
}
