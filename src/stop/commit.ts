import { isPast } from '../disk/age.ts'
import { errorText, isAbsent } from '../disk/file-errors.ts'
import { LockBusy, retryWhileLocked } from '../disk/lock.ts'
import type { Payload } from '../hosts/host.ts'
import { PostflightError } from '../kernel/errors.ts'
import { claimContinuation } from '../marker/count/claim.ts'
import { noteExpired } from '../marker/count/claim-files.ts'
import { isSpent } from '../marker/loop-guard.ts'
import type { Marker } from '../marker/marker.ts'
import { readMarker } from '../marker/marker-file.ts'
import { abandonMarker, changeMarker, endMarker } from '../marker/marker-store.ts'
import type { StoredMarker } from '../marker/stored-marker.ts'
import { endedWait, stampedWait } from '../marker/wait.ts'
import type { Recorded } from '../project/journal-entry.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { countContinuations } from './observe-stop.ts'
import { type JudgedMarker, ownershipOf, type PlannedMarker, planMarker, type StopPlan, stampsWait } from './plan.ts'
import { type Stop, waitState } from './rules.ts'
import type { StopOutcome } from './stop-outcome.ts'
import { waitEndRecord } from './stop-outcome.ts'

/** Carries out a stop's plan on disk, marker by marker (docs/design.md, "Plan and commit"). */

/** A marker that changes in the meantime is observed and planned again, at most this often; then it does not block. */
const MAX_NEW_PLANS = 4

/** The outcomes of a stop. */
interface Committed {
  readonly outcomes: readonly StopOutcome[]
  /** The number of markers for which there was no time. */
  readonly unchecked: number
  /** The waits that ended. */
  readonly recorded: readonly Recorded[]
}

/** Carries the plan out, in its order, until this process is `deadline` ms old. Never throws. */
export function commitStop({ markers, stop }: StopPlan, deadline?: number): Committed {
  const outcomes: StopOutcome[] = []
  const recorded: Recorded[] = []
  for (const planned of markers) {
    if (isPast(deadline)) break
    outcomes.push(commitMarker(planned, stop, recorded))
  }
  return { outcomes, unchecked: markers.length - outcomes.length, recorded }
}

/** The same without blocking the event loop while another process holds a marker's lock, and without a deadline. */
export async function commitStopAsync({ markers, stop }: StopPlan): Promise<Omit<Committed, 'unchecked'>> {
  const outcomes: StopOutcome[] = []
  const recorded: Recorded[] = []
  for (const planned of markers) {
    outcomes.push(await retryWhileLocked(() => commitMarker(planned, stop, recorded)))
  }
  return { outcomes, recorded }
}

/** The outcome for one marker. A marker that fails must not stop the others: this throws `LockBusy` only, before anything is counted. */
function commitMarker(planned: PlannedMarker, stop: Stop, recorded: Recorded[]): StopOutcome {
  const folder = planned.kind === 'judged' ? planned.stored.folder : planned.folder
  let current = planned
  try {
    for (let plans = 0; plans <= MAX_NEW_PLANS; plans++) {
      if (current.kind === 'unjudged') return { kind: 'failed', folder, detail: current.detail }
      const outcome = current.endsWait ? removeWait(current, stop, recorded) : tryCommit(current, stop)
      if (outcome !== undefined) return outcome
      const read = readMarker(folder)
      if (read === undefined) break
      current = planMarker(countContinuations(read, stop), stop)
    }
    return { kind: 'let-go', folder }
  } catch (error) {
    if (error instanceof LockBusy) throw error
    // Of many stops at once, one abandons the marker and the others may wait for its lock in vain: nothing failed.
    const wasLocked = error instanceof PostflightError && error.code === 'locked'
    if (wasLocked && readMarker(folder) === undefined) return { kind: 'let-go', folder }
    return { kind: 'failed', folder, detail: errorText(error) }
  }
}

/** The outcome; undefined when the marker changed in the meantime. */
function tryCommit(judged: JudgedMarker, stop: Stop): StopOutcome | undefined {
  try {
    return commit(judged, stop)
  } catch (error) {
    // Plain `rm` takes no lock: it may remove a file between two of our calls.
    if (!isAbsent(error)) throw error
    return undefined
  }
}

/** Removes a wait that is over, so that the marker is planned again; where that fails, the plan is carried out with it. */
function removeWait(judged: JudgedMarker, stop: Stop, recorded: Recorded[]): StopOutcome | undefined {
  try {
    recorded.push(...endWait(judged.stored.folder, stop.payload, (marker) => waitState(marker, stop) === 'over'))
    return undefined
  } catch (error) {
    if (error instanceof LockBusy) throw error
    return tryCommit(judged, stop)
  }
}

function commit({ stored, rule, checkingSinceMs }: JudgedMarker, stop: Stop): StopOutcome | undefined {
  const { folder, marker } = stored
  switch (rule) {
    case 'block':
      return block(stored, stop, checkingSinceMs)
    case 'capped': {
      const isCapped = (one: StoredMarker, spent: number): boolean => isOwed(one, stop) && isSpent(spent)
      const abandoned = abandonMarker(folder, isCapped)
      return abandoned && { kind: 'capped', folder, marker: abandoned.marker }
    }
    case 'bypassed': {
      const ended = endMarker(folder, (one) => ownershipOf(one, stop) === 'bypassed')
      return ended && { kind: 'bypassed', folder, marker: ended.marker }
    }
    case 'background':
    case 'waiting':
      if (stampsWait(stored, stop)) stampWait(folder, stop)
      return { kind: 'let-go', folder, waitsFor: rule === 'waiting' ? marker.wait?.for : undefined }
    case 'expired':
      return noteExpired(folder.path, stored.identity)
        ? { kind: 'expired', folder, marker }
        : { kind: 'let-go', folder }
    default:
      return { kind: 'let-go', folder }
  }
}

/** Counts a continuation, durably. A marker that is only rewritten in the meantime (a step, an owner) still blocks. */
function block(stored: StoredMarker, stop: Stop, checkingSinceMs: number | undefined): StopOutcome | undefined {
  const { folder } = stored
  let current = stored
  const claim = claimContinuation(folder.path, stored.identity, () => {
    const read = readMarker(folder)
    if (read?.kind !== 'marker' || !isOwed(read, stop)) return undefined
    current = read
    return read.identity
  })
  if (claim.kind !== 'claimed') return undefined
  return { kind: 'blocked', folder, marker: current.marker, count: claim.count, checkingSinceMs }
}

function isOwed(stored: StoredMarker, stop: Stop): boolean {
  return ownershipOf(stored, stop) === 'owed'
}

/**
 * Stamps the marker's wait with the stop's prompt, unless another process did.
 * @throws the errors of `changeMarker`.
 */
export function stampWait(folder: TaskFolder, stop: Stop): void {
  changeMarker(
    folder,
    (marker) =>
      marker.wait !== undefined && waitState(marker, stop) === 'begins'
        ? { fields: stampedWait(marker.wait, stop.payload.prompt, Date.now()) }
        : undefined,
    { patience: 'hook' },
  )
}

/**
 * Removes the marker's wait if `isOver` is true for the marker under the lock.
 * @returns the journal's record of it; none where there was nothing to remove.
 * @throws the errors of `changeMarker`.
 */
export function endWait(
  folder: TaskFolder,
  payload: Payload,
  isOver: (marker: Marker) => boolean,
): readonly Recorded[] {
  const { plan, marker } = changeMarker(
    folder,
    (present) =>
      present.wait !== undefined && isOver(present)
        ? { fields: endedWait(present.wait), purpose: present.wait.for }
        : undefined,
    { patience: 'hook' },
  )
  return plan === undefined ? [] : [waitEndRecord(folder, marker, payload, plan.purpose)]
}
