import type { TaskFolder } from '../../project/task-folder.ts'
import { currentWork, isInStep, needOf } from '../../run/machine/position.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import { readState } from '../../run/store/state-store.ts'
import { type LineItem, STATUS_LINE_TEXT as TEXT } from '../status-line.ts'

/** Never throws. */
export function runLineItems(folder: TaskFolder, task: string, session: string | undefined): LineItem[] {
  try {
    const state = readState(folder)
    if (state?.active !== true) return []
    const { hostSession } = state
    const isOurs = hostSession === undefined || session === undefined || hostSession === session
    const need = needOf(state)
    if (need.kind === 'approval') return [{ kind: 'waiting', isOurs, text: TEXT.approval(task, need.phase) }]
    if (need.kind === 'wait') return [{ kind: 'waiting', isOurs, text: TEXT.waits(task, need.wait.for) }]
    return [{ kind: 'running', isOurs, text: runText(task, state) }]
  } catch {
    return [{ kind: 'unusable', isOurs: true, text: TEXT.unusable(task) }]
  }
}

function runText(task: string, state: WorkflowState): string {
  const inStep = isInStep(state)
  const work = currentWork(state)
  const [spent, limit] = inStep ? [work.attempts, work.maxAttempts] : [state.phaseAttempts, state.maxPhaseAttempts]
  return [
    `${TEXT.running(task, state.phase)}${inStep ? ` ${TEXT.step(work.step + 1, state.totalSteps)}` : ''}`,
    ...(state.inWork.length > 1
      ? [TEXT.atOnce(state.inWork.length)]
      : spent > 0
        ? [TEXT.attempt(Math.min(spent + 1, limit), limit)]
        : []),
  ].join(', ')
}
