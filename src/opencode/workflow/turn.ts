import type { JournalEntry } from '../../core/journal-entry.ts'
import { RUN_RECORDS, WORKFLOW_TEXT } from '../../core/messages/runs.ts'
import type { TaskFolder } from '../../core/task-folder.ts'
import { readMarker } from '../../io/marker-file.ts'
import { interruptRun, requireState, resumeRun, type Turn, takeTurn } from '../../io/workflow/run.ts'
import { readState } from '../../io/workflow/state-store.ts'

/** Takes the turns of a run for one session, and leaves runs of other sessions alone. */

/**
 * Takes in what the last prompt left, and gives out the next one; undefined when the run now belongs to another session.
 * @throws {PostflightError} as `takeTurn`.
 */
export function nextTurn(folder: TaskFolder, session: string, returned: boolean): Turn | undefined {
  // The shorter patience: waiting for a lock would stop the whole server.
  const turn = takeTurn(folder, { sinceMs: Date.now(), patience: 'hook' }, ({ active, hostSession }) =>
    active && hostSession !== session ? undefined : { returned, mayPrompt: true },
  )
  return turn.command === 'none' ? undefined : turn
}

/**
 * Takes a run over for this session. A run that the session has just started stays as it is; any other is resumed, so that
 * a prompt that was out goes out once more.
 * @throws {PostflightError} `workflow-none`, `workflow-over`, `workflow-state`.
 */
export function takeUp(folder: TaskFolder, session: string): void {
  const { active, hostSession, prompted } = requireState(folder)
  if (active && hostSession === session && !prompted) return
  resumeRun(folder, { hostSession: session, parentSession: session }, Date.now())
}

/** The reason to wait no longer for this run's prompt; undefined while the run goes on. */
export function lostRun(folder: TaskFolder, session: string): 'not-ours' | 'bypassed' | undefined {
  const state = readState(folder)
  if (state === undefined || !state.active || state.hostSession !== session) return 'not-ours'
  return isBypassed(folder) ? 'bypassed' : undefined
}

/** True when the run's marker was bypassed. */
export function isBypassed(folder: TaskFolder): boolean {
  const marker = readMarker(folder)
  return marker?.kind === 'marker' && marker.marker.workflow && marker.marker.bypassed
}

/** Ends a run because its marker was bypassed. */
export function haltBypassed(folder: TaskFolder, session: string): void {
  interruptRun(folder, session, WORKFLOW_TEXT.bypassed, Date.now())
}

/** The journal's entry for a turn; undefined for a turn without a prompt or an end. */
export function turnEntry(
  folder: TaskFolder,
  session: string,
  { command, due, state }: Turn,
): JournalEntry | undefined {
  const entry = { event: 'workflow', task: folder.task, hostSession: session } as const
  if (due !== undefined) return { ...entry, detail: RUN_RECORDS.prompt(due.phase, due.step, due.attempt, false) }
  return command === 'finish' ? { ...entry, detail: state.outcome } : undefined
}
