import { retryWhileLocked } from '../../disk/lock.ts'
import type { Wait } from '../../marker/wait.ts'
import type { JournalEntry } from '../../project/journal-entry.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import { promptRecord } from '../../run/machine/prompt.ts'
import { resumeRun } from '../../run/store/run.ts'
import { settleRunWait } from '../../run/store/run-wait.ts'
import { readState, requireState } from '../../run/store/state-store.ts'
import { type Turn, takeTurn } from '../../run/store/turn.ts'

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
  await retryWhileLocked(() =>
    takeTurn(folder, { sinceMs: Date.now(), patience: 'command' }, ({ active, hostSession }) =>
      active && hostSession === session ? { looking } : undefined,
    ),
  )
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
  await retryWhileLocked(() => resumeRun(folder, { hostSession: session, parentSession: session }, Date.now()))
}

/** True when this session no longer drives the run, so that waiting for its prompt is pointless. */
export function isLost(folder: TaskFolder, session: string): boolean {
  const state = readState(folder)
  return state === undefined || !state.active || state.hostSession !== session
}

/** The journal's entry for a turn; undefined for a turn without a prompt or an end. */
export function turnEntry(
  folder: TaskFolder,
  session: string,
  { command, due, state }: Turn,
): JournalEntry | undefined {
  const entry = { event: 'workflow', task: folder.task, hostSession: session } as const
  if (due !== undefined) return { ...entry, detail: promptRecord(due, false) }
  return command === 'finish' ? { ...entry, detail: state.outcome } : undefined
}
