import { retryWhileLocked } from '../../disk/lock.ts'
import type { Payload } from '../../hosts/payload.ts'
import type { Recorded } from '../../project/journal-entry.ts'
import { findActiveRuns } from '../../run/store/active-runs.ts'
import { settleRunWait } from '../../run/store/run-wait.ts'
import { findMarkers } from '../../stop/observe-stop.ts'
import { waitState } from '../../stop/rules.ts'
import { endWait, stampWait } from '../../stop/waits.ts'

/**
 * Gives the waits of a conversation their prompt after a command that may have announced one, as `PostToolUse` does on
 * other hosts (docs/design.md, "Waiting"): a wait whose turn is interrupted must not allow the stop of a later one. Waits
 * of an earlier prompt are over. Returns the journal's records of those.
 */
export async function stampWaits(roots: readonly string[], payload: Payload): Promise<readonly Recorded[]> {
  const { session, prompt } = payload
  if (session === undefined || prompt === undefined) return []
  const nowMs = Date.now()
  const stop = { payload, nowMs, sessionBornMs: undefined, startMs: nowMs }
  const recorded: Recorded[] = []
  for (const read of findMarkers(roots).markers) {
    if (read.kind !== 'marker') continue
    const state = waitState(read.marker, stop)
    if (state === 'begins') await attempt(() => stampWait(read.folder, stop))
    if (state !== 'over') continue
    const ended = await attempt(() => endWait(read.folder, payload, (one) => waitState(one, stop) === 'over'))
    recorded.push(...(ended ?? []))
  }
  const { runs } = await retryWhileLocked(() => findActiveRuns(roots))
  for (const { folder, state } of runs) {
    if (state.wait === undefined || state.hostSession !== session) continue
    await attempt(() => settleRunWait(folder, session, { prompt, startMs: nowMs }))
  }
  return recorded
}

/** The result of a change; undefined if it fails: then the stop makes the change, or reports why not. */
async function attempt<T>(change: () => T): Promise<T | undefined> {
  try {
    return await retryWhileLocked(change)
  } catch {
    return undefined
  }
}
