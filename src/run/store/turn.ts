import { isPast } from '../../disk/age.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import { type Reconciled, reconcile } from '../machine/machine.ts'
import type { Effect, Observation } from '../machine/observation.ts'
import { archivePlace } from '../machine/observation.ts'
import { currentPhase, stepResultFile, withHandOut } from '../machine/position.ts'
import { type DuePrompt, duePrompt } from '../machine/prompt.ts'
import type { WorkflowState } from '../machine/state.ts'
import { applyEffect, type Looking, observe } from './observe-run.ts'
import { checkCommand } from './receipts.ts'
import { putRunFile, removeRunFile } from './run-file.ts'
import { recordHistory, writeState } from './state-store.ts'

/** Takes a turn of a run, or foresees one: the agent's results move it on, and the next prompt is due. */

/** The result of a turn. */
export interface TurnTaken {
  readonly state: WorkflowState
  readonly command: Reconciled['command']
  /** True if there was no time for all finished phases. The next turn continues. */
  readonly unfinished: boolean
  /** Set when the command is `prompt`. */
  readonly due: DuePrompt | undefined
  /** True if the run ended in this turn, and not before. */
  readonly ends: boolean
}

/** The prompt that is due in a state. */
export function dueOf(folder: TaskFolder, state: WorkflowState): DuePrompt {
  return duePrompt(state, { task: folder.task, folder: folder.path, checkCommand: checkCommand(folder.path) })
}

/** A turn of a run whose lock the caller holds. `onDisk`: the state on disk, if it is not `start`. */
export function turnUnderLock(
  folder: TaskFolder,
  start: WorkflowState,
  looking: Looking,
  { onDisk = start, deadline }: { readonly onDisk?: WorkflowState; readonly deadline?: number | undefined } = {},
): TurnTaken {
  // Before a prompt is counted: where the file cannot be written, nothing has happened yet.
  if (start.active) putRunFile(folder, start.id)
  let recorded = onDisk
  const ports = {
    isOutOfTime: () => isPast(deadline),
    observe: (seen: WorkflowState) => observe(folder.path, seen, looking),
    apply: (effect: Effect) => applyEffect(folder.path, effect),
    record: (next: WorkflowState) => {
      recordHistory(folder, next, recorded)
      recorded = next
    },
    write: (next: WorkflowState) => {
      writeState(folder, next, recorded)
      recorded = next
    },
  }
  const { state, command, unfinished } = reconcile(start, ports, onDisk)
  removeIfEnded(folder, state)
  const due = command === 'prompt' ? dueOf(folder, state) : undefined
  return { state, command, unfinished, due, ends: start.active && !state.active }
}

/** Removes the run file of a run that has ended. The caller holds the run's lock. */
export function removeIfEnded(folder: TaskFolder, { id, active }: WorkflowState): void {
  if (!active) removeRunFile(folder, id)
}

/** The turn that `turnUnderLock` would take now. Nothing is written. Files that it would archive count as archived. */
export function foreseenTurn(folder: TaskFolder, start: WorkflowState, looking: Looking): TurnTaken {
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
  const due = command === 'prompt' ? dueOf(folder, state) : undefined
  return { state, command, unfinished, due, ends: start.active && !state.active }
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
