import type { TaskFolder } from '../../project/task-folder.ts'
import { archivePlace } from '../machine/archive.ts'
import type { Observation } from '../machine/observation.ts'
import { currentPhase, stepResultFile } from '../machine/position.ts'
import { reconcile } from '../machine/reconcile.ts'
import type { WorkflowState } from '../machine/state.ts'
import { withHandOut } from '../machine/work.ts'
import { type Looking, observe } from './observe-run.ts'
import { dueOf, type Turn } from './turn.ts'

/** Predicts a turn of a run. Nothing is written, so no lock is needed. */

/** The turn that `workflow next` would take now. Files that it would archive count as archived. */
export function peekTurn(folder: TaskFolder, start: WorkflowState, looking: Looking): Turn {
  const archived = new Map<string, string>()
  const { state, command, unfinished } = reconcile(start, {
    observe: (state) => without(archived, state, observe(folder.path, state, looking)),
    apply: (effect) => {
      if (effect.kind === 'tick') return
      const { folder: place, name } = archivePlace(effect)
      archived.set(effect.kind === 'archive-step' ? effect.file : effect.artifact, `${place}/${name}`)
    },
    record: () => {},
    write: () => {},
    isOutOfTime: () => false,
  })
  return { state, command, unfinished, due: command === 'prompt' ? dueOf(folder, state) : undefined }
}

/** The observation as it would be after the archiving. */
function without(archived: ReadonlyMap<string, string>, state: WorkflowState, seen: Observation): Observation {
  const { artifact, stepResults, strayResults } = seen
  const phase = currentPhase(state)
  const place = archived.get(phase.artifact ?? '')
  const { inWork } = withHandOut(state, phase)
  return {
    ...seen,
    artifact: place === undefined ? artifact : { kind: 'absent' },
    stepResults: stepResults.map((result, index) => {
      const isMoved = archived.has(stepResultFile(phase, inWork[index]?.step ?? 0))
      return isMoved && result.kind !== 'absent' && !result.archived ? { kind: 'absent' } : result
    }),
    strayResults: strayResults?.filter((file) => !archived.has(file)),
    previousArtifact: place ?? seen.previousArtifact,
  }
}
