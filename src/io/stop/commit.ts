import { isSpent } from '../../core/loop-guard.ts'
import type { StopOutcome } from '../../core/stop/outcome.ts'
import { type JudgedMarker, ownershipOf, type PlannedMarker, planMarker, type StopPlan } from '../../core/stop/plan.ts'
import type { Stop } from '../../core/stop/rules.ts'
import type { StoredMarker } from '../../core/stored-marker.ts'
import { claimContinuation } from '../continuations/claim.ts'
import { noteExpired } from '../continuations/claim-files.ts'
import { errorText, isAbsent } from '../fs/errors.ts'
import { readMarker } from '../marker-file.ts'
import { abandonMarker, endMarker } from '../marker-store.ts'
import { isPast } from '../process/age.ts'
import { countContinuations } from './observe.ts'

/** What a stop does on disk, marker by marker: a block is counted before it is said, a spent marker is abandoned. */

/** A marker that changes meanwhile is observed and planned again; after this many times it is let go. */
const MAX_NEW_PLANS = 4

/** What became of the markers. */
export interface Committed {
  readonly outcomes: readonly StopOutcome[]
  /** Markers that there was no time for. */
  readonly unchecked: number
}

/** Carries the plan out, in its order. `deadline`: the age of this process (ms) at which it ends. Never throws. */
export function commitStop({ markers, stop }: StopPlan, deadline?: number): Committed {
  const outcomes: StopOutcome[] = []
  for (const planned of markers) {
    if (isPast(deadline)) break
    outcomes.push(commitMarker(planned, stop))
  }
  return { outcomes, unchecked: markers.length - outcomes.length }
}

/** One marker that cannot be judged or counted does not keep the others from being answered for. */
function commitMarker(planned: PlannedMarker, stop: Stop): StopOutcome {
  const folder = planned.kind === 'judged' ? planned.stored.folder : planned.folder
  let current = planned
  try {
    for (let plans = 0; plans <= MAX_NEW_PLANS; plans++) {
      if (current.kind === 'unjudged') return { kind: 'failed', folder, detail: current.detail }
      const outcome = tryCommit(current, stop)
      if (outcome !== undefined) return outcome
      const read = readMarker(folder)
      if (read === undefined) break
      current = planMarker(countContinuations(read, stop), stop)
    }
    return { kind: 'let-go', folder }
  } catch (error) {
    return { kind: 'failed', folder, detail: errorText(error) }
  }
}

/** The outcome; undefined when the marker changed meanwhile. */
function tryCommit(judged: JudgedMarker, stop: Stop): StopOutcome | undefined {
  try {
    return commit(judged, stop)
  } catch (error) {
    // Plain `rm` takes no lock: it may remove a file between two of our calls.
    if (!isAbsent(error)) throw error
    return undefined
  }
}

function commit({ stored, rule }: JudgedMarker, stop: Stop): StopOutcome | undefined {
  const { folder, marker } = stored
  switch (rule) {
    case 'block':
      return block(stored, stop)
    case 'capped': {
      const isCapped = (one: StoredMarker, spent: number): boolean => isOwed(one, stop) && isSpent(spent)
      const abandoned = abandonMarker(folder, isCapped)
      return abandoned && { kind: 'capped', folder, marker: abandoned.marker }
    }
    case 'bypassed': {
      const ended = endMarker(folder, (one) => ownershipOf(one, stop) === 'bypassed')
      return ended && { kind: 'bypassed', folder, marker: ended.marker }
    }
    case 'expired':
      return noteExpired(folder.path, stored.identity)
        ? { kind: 'expired', folder, marker }
        : { kind: 'let-go', folder }
    default:
      return { kind: 'let-go', folder }
  }
}

/** Counts a continuation, durably. A marker that is only rewritten meanwhile (a step, an owner) is blocked all the same. */
function block(stored: StoredMarker, stop: Stop): StopOutcome | undefined {
  const { folder } = stored
  let current = stored
  const claim = claimContinuation(folder.path, stored.identity, () => {
    const read = readMarker(folder)
    if (read?.kind !== 'marker' || !isOwed(read, stop)) return undefined
    current = read
    return read.identity
  })
  return claim.kind === 'claimed' ? { kind: 'blocked', folder, marker: current.marker, count: claim.count } : undefined
}

function isOwed(stored: StoredMarker, stop: Stop): boolean {
  return ownershipOf(stored, stop) === 'owed'
}
