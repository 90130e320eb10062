import type { JournalEntry } from '../../core/journal-entry.ts'
import { WORKFLOW_TEXT } from '../../core/messages/runs.ts'
import type { TaskFolder } from '../../core/task-folder.ts'
import { readMarker } from '../../io/marker-file.ts'
import { interruptRun, requireState, resumeRun, type Turn, takeTurn } from '../../io/workflow/run.ts'
import { readState } from '../../io/workflow/state-store.ts'

/** A run's turns as this driver takes them: always for one session, and never over another driver's head. */

/**
 * Looks at what the last prompt left, and gives out the next one. Undefined when the run is another session's now.
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
 * Makes a run this session's. One that it has just started is left as it is; any other is taken up again, so that a
 * prompt that was out goes out once more.
 * @throws {PostflightError} `workflow-none`, `workflow-over`, `workflow-state`.
 */
export function takeUp(folder: TaskFolder, session: string): void {
  const { active, hostSession, prompted } = requireState(folder)
  if (active && hostSession === session && !prompted) return
  resumeRun(folder, { hostSession: session, parentSession: session }, Date.now())
}

/** Why nobody should wait for this run's prompt any more; undefined while it goes on. */
export function lostRun(folder: TaskFolder, session: string): 'not-ours' | 'bypassed' | undefined {
  const state = readState(folder)
  if (state === undefined || !state.active || state.hostSession !== session) return 'not-ours'
  return isBypassed(folder) ? 'bypassed' : undefined
}

/** True when somebody let the run go by its marker. */
export function isBypassed(folder: TaskFolder): boolean {
  const marker = readMarker(folder)
  return marker?.kind === 'marker' && marker.marker.workflow && marker.marker.bypassed
}

/** Ends a run because its marker was bypassed. */
export function haltBypassed(folder: TaskFolder, session: string): void {
  interruptRun(folder, session, WORKFLOW_TEXT.bypassed, Date.now())
}

/** What the journal is told of a turn; undefined where there is nothing to tell. */
export function turnEntry(
  folder: TaskFolder,
  session: string,
  { command, due, state }: Turn,
): JournalEntry | undefined {
  const entry = { event: 'workflow', task: folder.task, hostSession: session } as const
  if (due !== undefined) {
    const step = due.step === undefined ? '' : ` step ${due.step}`
    return { ...entry, detail: `prompt: ${due.phase}${step} attempt ${due.attempt}` }
  }
  return command === 'finish' ? { ...entry, detail: state.outcome } : undefined
}
