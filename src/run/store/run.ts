import { newRunId } from '../../disk/ids.ts'
import { COMMAND_PATIENCE_MS } from '../../disk/lock.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { cut } from '../../kernel/text.ts'
import { attempt } from '../../kernel/values.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { type Definition, findPhase } from '../definition/definition.ts'
import type { Phase } from '../definition/phase-fields.ts'
import { turnUnderLock } from '../drive.ts'
import { isIdle } from '../machine/agent-stop.ts'
import { artifactFault } from '../machine/observation.ts'
import { currentPhase, isResumable, needOf } from '../machine/position.ts'
import { isPrompted, newState, type Runner, type Starter, visitsOf, type WorkflowState } from '../machine/state.ts'
import {
  abortState,
  approveState,
  enterFrom,
  haltState,
  isApprovalDue,
  promptAgain,
  rejectState,
  requestStop,
  resumeState,
  type skipStep,
} from '../machine/steering.ts'
import { refuseMoved } from '../shared/share-record.ts'
import { observe } from './observe-run.ts'
import { putAside } from './put-aside.ts'
import { idToResume, putRunFile, removeRunFile } from './run-file.ts'
import { readState, withRun, withRunLock, writeChanged, writeState } from './state-store.ts'

/** Moves files of earlier runs to the folder `aside`, even if their state is gone. */
export function startRun(
  folder: TaskFolder,
  definition: Definition,
  { fresh, ...starter }: Omit<Starter, 'id'> & { readonly fresh: boolean },
) {
  return withRunLock(folder, COMMAND_PATIENCE_MS, () => {
    const present = readState(folder)
    if (present !== undefined && (present.active || !fresh)) {
      const outcome = present.active ? 'running' : (present.outcome ?? '')
      const resumable = needOf(present).kind === 'resume'
      throw new PostflightError('workflow-there', { task: taskWord(folder), name: present.name, outcome, resumable })
    }
    const id = newRunId()
    const state = newState(definition, { ...starter, id })
    try {
      // First: no run may be active without its run file.
      putRunFile(folder, id)
      const aside = putAside(folder, definition, present)
      writeState(folder, state, undefined)
      return { state, aside }
    } catch (error) {
      // The state may be this run's: a sync can fail after the write.
      if (!attempt(() => readState(folder)?.id === id, true)) removeRunFile(folder, id)
      throw error
    }
  })
}

export type ChangedRun = ReturnType<typeof steer>

/** `before`: read under the lock of the change, so that a hook's change does not count as ours. */
export function steer(
  folder: TaskFolder,
  nowMs: number,
  change: (state: WorkflowState) => WorkflowState,
  takesPassing: (changed: WorkflowState) => boolean = () => true,
) {
  return withRun(folder, COMMAND_PATIENCE_MS, (before) => {
    const state = change(before)
    if (state.active && takesPassing(state)) {
      const circumstances = { nowMs, returned: false, takes: 'passing', mayPrompt: false } as const
      return { before, state: turnUnderLock(folder, state, circumstances, { onDisk: before }).state }
    }
    writeChanged(folder, state, before)
    if (before.active && !state.active) removeRunFile(folder, state.id)
    return { before, state }
  })
}

/** A working agent's results may be incomplete: its next stop judges them. */
export function stopRun(folder: TaskFolder, nowMs: number): ChangedRun {
  return steer(folder, nowMs, (state) => requestStop(state, nowMs), isIdle)
}

/** The result of a pending prompt counts when the run is resumed. */
export function stopRunNow(folder: TaskFolder, nowMs: number): ChangedRun {
  return steer(folder, nowMs, (state) => haltState(state, 'it was stopped immediately', nowMs))
}

/** Takes in results first, so that finished work is not requested again. Sends a pending prompt again. */
export function resumeRun(folder: TaskFolder, runner: Runner, nowMs: number, from?: string) {
  return withRun(folder, COMMAND_PATIENCE_MS, (state) => {
    requireResumable(folder, state)
    const circumstances = { nowMs, returned: false, mayPrompt: false }
    const id = idToResume(folder, state.id)
    const resumed = { ...resumeState(state, runner, observe(folder, state, circumstances)), id }
    const begun = from === undefined ? resumed : enteredFrom(folder, resumed, from, nowMs)
    const takenFrom = state.active && state.hostSession !== begun.hostSession ? state.hostSession : undefined
    putRunFile(folder, id)
    const { state: seen } = turnUnderLock(folder, begun, circumstances, { onDisk: state })
    const again = seen.active && isPrompted(seen) ? promptAgain(seen) : seen
    writeChanged(folder, again, seen)
    return { state: again, takenFrom }
  })
}

function requireResumable(folder: TaskFolder, state: WorkflowState): void {
  refuseMoved(folder, state)
  if (isResumable(state)) return
  throw new PostflightError('workflow-over', { task: taskWord(folder), outcome: state.outcome ?? '' })
}

/** Throws if `--from` is refused. */
export function enteredFrom(folder: TaskFolder, state: WorkflowState, from: string, nowMs: number): WorkflowState {
  const task = taskWord(folder)
  const known = (phases: readonly Phase[]): string => cut(phases.map(({ id }) => id).join(', '), 500)
  const { phases } = state.definition
  const phase = findPhase(state.definition, from)
  if (phase === undefined) throw new PostflightError('phase-unknown', { task, phase: from, known: known(phases) })
  const entered = enterFrom(state, phase, nowMs)
  if ('state' in entered) return entered.state
  if (entered.refusal.kind === 'approval') throw new PostflightError('phase-approval', { task, ...entered.refusal })
  const visited = phases.filter(({ id }) => visitsOf(state, id) > 0)
  throw new PostflightError('phase-not-entered', { task, phase: from, known: known(visited) })
}

export function abortRun(folder: TaskFolder, nowMs: number): ChangedRun {
  return steer(folder, nowMs, (state) => {
    refuseMoved(folder, state)
    return abortState(state, nowMs)
  })
}

export function approveRun(folder: TaskFolder, note: string | undefined, nowMs: number): ChangedRun {
  return steer(folder, nowMs, (state) => {
    requireApproval(folder, state)
    const { artifact } = observe(folder, state, { nowMs, returned: false, mayPrompt: false })
    if (artifact.kind !== 'valid') {
      const detail = artifactFault(artifact, currentPhase(state).artifact ?? '')
      throw new PostflightError('approval-artifact', { task: taskWord(folder), detail })
    }
    return approveState(state, note, nowMs)
  })
}

export function rejectRun(folder: TaskFolder, reason: string, nowMs: number): ChangedRun {
  return steer(folder, nowMs, (state) => {
    requireApproval(folder, state)
    return rejectState(state, reason, nowMs)
  })
}

function requireApproval(folder: TaskFolder, state: WorkflowState): void {
  refuseMoved(folder, state)
  if (!isApprovalDue(state)) throw new PostflightError('approval-none', { task: taskWord(folder), phase: state.phase })
}

/** `step` counts from 1. */
export function steerStep(folder: TaskFolder, step: number, nowMs: number, change: typeof skipStep): ChangedRun {
  return steer(folder, nowMs, (state) => {
    // A run that has ended would never do the step.
    requireResumable(folder, state)
    const steered = change(state, step - 1, nowMs)
    if ('state' in steered) return steered.state
    const { phase, totalSteps: count } = state
    const status = steered.refusal
    throw new PostflightError('run-step', { task: taskWord(folder), phase, step: String(step), count, status })
  })
}
