import { retryWhileLocked } from '../../disk/lock.ts'
import type { Wait } from '../../marker/wait.ts'
import { appendJournal } from '../../project/journal.ts'
import type { JournalEntry } from '../../project/journal-entry.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import { interruptRun, resumeRun } from '../../run/store/run.ts'
import { settleRunWait } from '../../run/store/run-wait.ts'
import { readState, requireState } from '../../run/store/state-store.ts'
import { endEntry, type Turn, takeTurn, turnEntry } from '../../run/store/turn.ts'

/** Takes the turns of a run for one session, and does not touch runs of other sessions. */

/** The session that drives a run, and the message that it answers. */
export interface DrivingSession {
  readonly root: string
  /** The last message that the plugin did not write; undefined if it is not known. */
  readonly prompt: string | undefined
}

/**
 * Takes in the results of the last prompt, and sends the next one; undefined when the run now belongs to another
 * session.
 * @throws {PostflightError} as `takeTurn`.
 */
export async function nextTurn(folder: TaskFolder, session: string, returned: boolean): Promise<Turn | undefined> {
  const sinceMs = Date.now()
  const turn = await retryWhileLocked(() =>
    takeTurn(folder, { sinceMs, patience: 'command' }, ({ active, hostSession }) =>
      active && hostSession !== session ? undefined : { looking: { returned, mayPrompt: true } },
    ),
  )
  return turn.command === 'none' ? undefined : turn
}

/** Takes in the passing results of the steps in progress, while others still work. */
export async function takePassed(folder: TaskFolder, session: string): Promise<void> {
  const looking = { returned: false, mayPrompt: false, takes: 'passing' } as const
  const turn = await retryWhileLocked(() =>
    takeTurn(folder, { sinceMs: Date.now(), patience: 'command' }, ({ active, hostSession }) =>
      active && hostSession === session ? { looking } : undefined,
    ),
  )
  if (turn.command !== 'none') record(folder, turnEntry(folder, turn))
}

/** Stops the run at once, if it is still this session's. */
export async function haltRun(folder: TaskFolder, session: string, why: string): Promise<WorkflowState> {
  const { active } = requireState(folder)
  const state = await retryWhileLocked(() => interruptRun(folder, session, why, Date.now()))
  if (active && !state.active) record(folder, endEntry(folder.task, state))
  return state
}

/** Writes an entry to the journal of the run's root. */
export function record({ root }: TaskFolder, entry: JournalEntry | undefined): void {
  if (entry !== undefined) appendJournal(root, [entry], Date.now())
}

/** The wait of a run that stands at this message: until the next one no prompt goes out (docs/design.md, "Waiting"). */
export function standingWait(folder: TaskFolder, { root, prompt }: DrivingSession): Promise<Wait | undefined> {
  return retryWhileLocked(() => settleRunWait(folder, root, { prompt, startMs: Date.now() }))
}

/**
 * Takes a run over for this session. A run that the session has just started stays as it is; any other is resumed, so that
 * a prompt that was out goes out once more.
 * @throws {PostflightError} `workflow-none`, `workflow-over`, `workflow-state`.
 */
export async function takeUp(folder: TaskFolder, session: string): Promise<void> {
  const { active, hostSession, prompted } = requireState(folder)
  if (active && hostSession === session && !prompted) return
  const { state } = await retryWhileLocked(() =>
    resumeRun(folder, { hostSession: session, parentSession: session }, Date.now()),
  )
  if (!state.active) record(folder, endEntry(folder.task, state))
}

/** True when this session no longer drives the run, so that waiting for its prompt is pointless. */
export function isLost(folder: TaskFolder, session: string): boolean {
  const state = readState(folder)
  return state === undefined || !state.active || state.hostSession !== session
}
