import type { TaskFolder } from '../../core/task-folder.ts'
import type { Observation } from '../../core/workflow/observation.ts'
import { currentPhase } from '../../core/workflow/position.ts'
import { STEP_RESULT_FILE } from '../../core/workflow/prompt.ts'
import { reconcile } from '../../core/workflow/reconcile.ts'
import type { WorkflowState } from '../../core/workflow/state.ts'
import { archivePlace, observe } from './observe.ts'
import { dueOf, type Turn } from './turn.ts'

/** Predicts a turn of a run. Nothing is written, so no lock is needed. */

/** The turn that `workflow next` would take now. Files that it would archive count as archived. */
export function peekTurn(folder: TaskFolder, start: WorkflowState, nowMs: number): Turn {
  const archived = new Map<string, string>()
  const looking = { nowMs, returned: true, mayPrompt: true }
  const { state, command, unfinished } = reconcile(start, {
    observe: (state) => without(archived, state, observe(folder.path, state, looking)),
    apply: (effect) => {
      const { folder: place, name } = archivePlace(effect)
      archived.set(effect.kind === 'archive-step' ? STEP_RESULT_FILE : effect.artifact, `${place}/${name}`)
    },
    record: () => {},
    write: () => {},
    isOutOfTime: () => false,
  })
  return { state, command, unfinished, due: command === 'prompt' ? dueOf(folder, state) : undefined }
}

/** What would be observed after the archiving. */
function without(archived: ReadonlyMap<string, string>, state: WorkflowState, seen: Observation): Observation {
  const { artifact, stepResult } = seen
  const place = archived.get(currentPhase(state).artifact ?? '')
  const isStepArchived = archived.has(STEP_RESULT_FILE) && stepResult.kind !== 'absent' && !stepResult.archived
  return {
    ...seen,
    artifact: place === undefined ? artifact : { kind: 'absent' },
    stepResult: isStepArchived ? { kind: 'absent' } : stepResult,
    previousArtifact: place ?? seen.previousArtifact,
  }
}
