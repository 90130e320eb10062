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

/** Carries out a stop's plan on disk, marker by marker (docs/design.md, "Plan and commit"). */

/** A marker that changes in the meantime is observed and planned again, at most this often; then it does not block. */
const MAX_NEW_PLANS = 4

/** The outcomes of a stop. */
export interface Committed {
  readonly outcomes: readonly StopOutcome[]
  /** The number of markers for which there was no time. */
  readonly unchecked: number
}

/** Carries the plan out, in its order, until this process is `deadline` ms old. Never throws. */
export function commitStop({ markers, stop }: StopPlan, deadline?: number): Committed {
  const outcomes: StopOutcome[] = []
  for (const planned of markers) {
    if (isPast(deadline)) break
    outcomes.push(commitMarker(planned, stop))
  }
  return { outcomes, unchecked: markers.length - outcomes.length }
}

/** The outcome for one marker. Never throws: a marker that fails must not stop the others. */
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

/** Counts a continuation, durably. A marker that is only rewritten in the meantime (a step, an owner) still blocks. */
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
