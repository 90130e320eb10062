import { type TaskFolder, taskWord } from '../../../core/task-folder.ts'
import { currentPhase, isInStep } from '../../../core/workflow/position.ts'
import { STEP_RESULT_FILE } from '../../../core/workflow/prompt.ts'
import type { WorkflowState } from '../../../core/workflow/state.ts'
import { HOOK_TEXT } from '../texts.ts'

/** The place of a run in words: its phase, its step, and the file that is due. `advice` replaces the usual one. */
export function placeInRun(folder: TaskFolder, state: WorkflowState, advice: string | undefined): string {
  const { id, artifact } = currentPhase(state)
  const due = isInStep(state) ? STEP_RESULT_FILE : artifact
  return HOOK_TEXT.phaseReminder({
    workflow: state.name,
    task: taskWord(folder),
    phase: id,
    step: isInStep(state) ? [state.currentStep + 1, state.totalSteps] : undefined,
    artifact: due === undefined ? undefined : `${folder.path}/${due}`,
    advice,
  })
}
