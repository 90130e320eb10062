import { isPast } from '../../disk/age.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import { type Reconciled, reconcile } from '../machine/machine.ts'
import type { Effect, Observation } from '../machine/observation.ts'
import { archiveLocation } from '../machine/observation.ts'
import { currentPhase, stepResultFile, withBatch } from '../machine/position.ts'
import { type DuePrompt, duePrompt } from '../machine/prompt.ts'
import type { WorkflowState } from '../machine/state.ts'
import { applyEffect, observe, type StopCircumstances } from './observe-run.ts'
import { checkCommand } from './receipts.ts'
import { putRunFile, removeRunFile } from './run-file.ts'
import { recordHistory, writeState } from './state-store.ts'

/** Takes or predicts a turn of a run. */

export interface TurnTaken {
  readonly state: WorkflowState
  readonly command: Reconciled['command']
  /** Whether time ran out; the next turn continues. */
  readonly unfinished: boolean
  readonly due: DuePrompt | undefined
  readonly ends: boolean
}

export function dueOf(folder: TaskFolder, state: WorkflowState): DuePrompt {
  return duePrompt(state, { task: folder.task, folder: folder.path, checkCommand: checkCommand(folder.path) })
}

/** Needs the run's lock. `onDisk`: the state on disk, if not `start`. */
export function turnUnderLock(
  folder: TaskFolder,
  start: WorkflowState,
  circumstances: StopCircumstances,
  { onDisk = start, deadline }: { readonly onDisk?: WorkflowState; readonly deadline?: number | undefined } = {},
): TurnTaken {
  // First: if the file cannot be written, no prompt is counted.
  if (start.active) putRunFile(folder, start.id)
  let recorded = onDisk
  const ports = {
    isOutOfTime: () => isPast(deadline),
    observe: (seen: WorkflowState) => observe(folder.path, seen, circumstances),
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

export function removeIfEnded(folder: TaskFolder, { id, active }: WorkflowState): void {
  if (!active) removeRunFile(folder, id)
}

/** Predicts `turnUnderLock` without writing. */
export function foreseenTurn(folder: TaskFolder, start: WorkflowState, circumstances: StopCircumstances): TurnTaken {
  const archived = new Map<string, string>()
  const { state, command, unfinished } = reconcile(start, {
    observe: (state) => without(archived, state, observe(folder.path, state, circumstances)),
    apply: (effect) => {
      if (effect.kind === 'tick') return
      const { folder: location, name } = archiveLocation(effect)
      archived.set(effect.kind === 'archive-step' ? effect.file : effect.artifact, `${location}/${name}`)
    },
    record: () => {},
    write: () => {},
    isOutOfTime: () => false,
  })
  const due = command === 'prompt' ? dueOf(folder, state) : undefined
  return { state, command, unfinished, due, ends: start.active && !state.active }
}

function without(archived: ReadonlyMap<string, string>, state: WorkflowState, seen: Observation): Observation {
  const { artifact, stepResults, strayResults } = seen
  const phase = currentPhase(state)
  const location = archived.get(phase.artifact ?? '')
  const { inWork } = withBatch(state, phase)
  return {
    ...seen,
    artifact: location === undefined ? artifact : { kind: 'absent' },
    stepResults: stepResults.map((result, index) => {
      const isMoved = archived.has(stepResultFile(phase, inWork[index]?.step ?? 0))
      return isMoved && result.kind !== 'absent' && !result.archived ? { kind: 'absent' } : result
    }),
    strayResults: strayResults?.filter((file) => !archived.has(file)),
    previousArtifact: location ?? seen.previousArtifact,
  }
}
