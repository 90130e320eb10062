import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { currentPhase, isInStep, stepResultFile } from '../../run/machine/position.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import { HOOK_TEXT } from '../hook-texts.ts'

/** The place of a run in words: its phase, its steps, and the files that are due. `advice` replaces the usual one. */
export function placeInRun(folder: TaskFolder, state: WorkflowState, advice: string | undefined): string {
  const phase = currentPhase(state)
  const { id, artifact } = phase
  const steps = stepsInWork(state)
  const ofPhase = artifact === undefined ? [] : [artifact]
  const due = steps.length === 0 ? ofPhase : steps.map((step) => stepResultFile(phase, step))
  return HOOK_TEXT.phaseReminder({
    workflow: state.name,
    task: taskWord(folder),
    phase: id,
    steps: steps.map((step) => step + 1),
    totalSteps: state.totalSteps,
    due: due.map((file) => `${folder.path}/${file}`),
    advice,
  })
}

/** The steps that were handed out, or the one that comes next; none while the run works on the phase's artifact. */
function stepsInWork(state: WorkflowState): number[] {
  if (!isInStep(state)) return []
  return state.inWork.length > 0 ? state.inWork.map(({ step }) => step) : [state.currentStep]
}
