import { isPast } from '../../disk/age.ts'
import { COMMAND_PATIENCE_MS, HOOK_PATIENCE_MS } from '../../disk/lock.ts'
import type { JournalEntry } from '../../project/journal-entry.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import { hadAskedBefore, repeatPrompt } from '../machine/control.ts'
import { type DuePrompt, duePrompt, promptRecord } from '../machine/prompt.ts'
import { type Reconciled, reconcile } from '../machine/reconcile.ts'
import type { WorkflowState } from '../machine/state.ts'
import { RUN_RECORDS } from '../run-messages.ts'
import { applyEffect, type Looking, observe } from './observe-run.ts'
import { checkCommand } from './receipts.ts'
import { putRunFile, removeRunFile } from './run-file.ts'
import { recordHistory, withRun, writeChanged, writeState } from './state-store.ts'

/** Takes the turns of a run: the agent's results move it on, and the next prompt goes out. */

/** The result of a turn. */
export interface Turn {
  readonly state: WorkflowState
  readonly command: Reconciled['command']
  /** True if there was no time for all finished phases. The next turn continues. */
  readonly unfinished: boolean
  /** Set when the command is `prompt`. */
  readonly due: DuePrompt | undefined
  /** True if the agent must be asked whether it is waiting for shells in the background. */
  readonly asksToWait?: boolean
  /** True if the stop is allowed because the person interrupted the prompt that is out. */
  readonly hears?: boolean
  /** True if the run ended in this turn, and not before. */
  readonly ends?: boolean
}

/** The result if the run was left unchanged. */
export interface NoTurn {
  readonly state: WorkflowState
  readonly command: 'none'
}

/** How a run is observed in a turn. */
export interface Look {
  readonly looking: Omit<Looking, 'nowMs'>
  /** The state to write first, where the stop itself changes it. */
  readonly noted?: WorkflowState
  /** True if the agent is asked whether it is waiting, unless its result passes. */
  readonly asks?: boolean
  /** True if the person interrupted the prompt that is out: the stop is allowed, unless a result is there. */
  readonly hears?: boolean
}

/** The circumstances of a request for a turn. */
export interface Asking {
  /** The time of the request (ms since the epoch): the start of a process, or the time of an event. */
  readonly sinceMs: number
  readonly patience: 'command' | 'hook'
  /** The age of this process (ms) at which it must answer; undefined for a command, which has time. */
  readonly deadline?: number | undefined
}

/**
 * Observes, moves the run on as far as possible, and sends the next prompt if one is due and allowed. `look` gets the
 * state (which may be large, so it is read only once) and says how to observe, or returns undefined to leave the run
 * unchanged. Of two requests at once, such as from a hook that is wired twice, the second gets the same prompt as the
 * first, as the same attempt.
 * @throws {PostflightError} `workflow-none`, `workflow-state`, `locked`; file-system errors.
 */
export function takeTurn(
  folder: TaskFolder,
  asking: Asking,
  look: (state: WorkflowState) => Look | undefined,
): Turn | NoTurn {
  return withRun(folder, asking.patience === 'hook' ? HOOK_PATIENCE_MS : COMMAND_PATIENCE_MS, (state) => {
    const looked = look(state)
    if (looked === undefined) return { state, command: 'none' }
    const { looking } = looked
    // Taken under the lock, so that a prompt's time is later than the start of every process that waited for the lock.
    const nowMs = Date.now()
    const isEarlier = hadAskedBefore(state, asking.sinceMs)
    if (!looking.mayPrompt || !isEarlier) {
      const noted = isEarlier ? state : (looked.noted ?? state)
      writeChanged(folder, noted, state)
      const turn = turnUnderLock(folder, noted, { ...looking, nowMs }, asking.deadline)
      const isOut = turn.command === 'wait' && !turn.unfinished && turn.state.prompted
      if (isOut && looked.asks === true) return askToWait(folder, turn)
      return isOut && looked.hears === true ? { ...turn, hears: true } : turn
    }
    const turn = turnUnderLock(folder, state, { returned: false, mayPrompt: false, nowMs }, asking.deadline)
    if (turn.command !== 'wait' || turn.unfinished) return turn
    // The last prompt's work is done, so the next one is due: a clock that was set back must not end the chain of prompts.
    if (!turn.state.prompted) return turnUnderLock(folder, turn.state, { ...looking, nowMs }, asking.deadline)
    const repeated = repeatPrompt(turn.state)
    writeChanged(folder, repeated, turn.state)
    return { state: repeated, command: 'prompt', unfinished: false, due: dueOf(folder, repeated) }
  })
}

/** Notes that the agent is asked, once in each visit of a phase. */
function askToWait(folder: TaskFolder, turn: Turn): Turn {
  const asked = { ...turn.state, askedToWait: true }
  writeChanged(folder, asked, turn.state)
  return { ...turn, state: asked, asksToWait: true }
}

/** The prompt that is due in a state. */
export function dueOf(folder: TaskFolder, state: WorkflowState): DuePrompt {
  return duePrompt(state, { task: folder.task, folder: folder.path, checkCommand: checkCommand(folder.path) })
}

/** A turn of a run whose lock the caller holds. */
export function turnUnderLock(folder: TaskFolder, start: WorkflowState, looking: Looking, deadline?: number): Turn {
  // Before a prompt is counted: where the file cannot be written, nothing has happened yet.
  if (start.active && start.id !== undefined) putRunFile(folder, start.id)
  let recorded = start
  const { state, command, unfinished } = reconcile(start, {
    isOutOfTime: () => isPast(deadline),
    observe: (seen) => observe(folder.path, seen, looking),
    apply: (effect) => applyEffect(folder.path, effect),
    record: (next) => {
      recordHistory(folder, next, recorded)
      recorded = next
    },
    write: (next) => {
      writeState(folder, next, recorded)
      recorded = next
    },
  })
  removeIfEnded(folder, state)
  const due = command === 'prompt' ? dueOf(folder, state) : undefined
  return { state, command, unfinished, due, ends: start.active && !state.active }
}

/** Removes the run file of a run that has ended. The caller holds the run's lock. */
export function removeIfEnded(folder: TaskFolder, { id, active }: WorkflowState): void {
  if (id !== undefined && !active) removeRunFile(folder, id)
}

/** The journal's entry for a turn, whoever drives the run; undefined for a turn without a prompt or an end. */
export function turnEntry({ task }: TaskFolder, { due, state, hears, ends }: Turn): JournalEntry | undefined {
  const entry = { event: 'workflow', task, hostSession: state.hostSession } as const
  if (due !== undefined) return { ...entry, detail: promptRecord(due, state.repeats > 0) }
  if (hears === true) return { ...entry, detail: RUN_RECORDS.heard }
  return ends === true ? endEntry(task, state) : undefined
}

/** The journal's entry for the start of a run. */
export function startEntry(task: string, { name, hostSession }: WorkflowState): JournalEntry {
  return { event: 'workflow', task, hostSession, detail: RUN_RECORDS.started(name) }
}

/** The journal's entry for the end of a run. */
export function endEntry(task: string, { hostSession, outcome }: WorkflowState): JournalEntry {
  return { event: 'workflow', task, hostSession, detail: outcome }
}
