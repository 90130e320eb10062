import { isPast } from '../disk/age.ts'
import { errorText, unlessAbsent } from '../disk/file-facts.ts'
import { HOOK_PATIENCE_MS, LockBusy } from '../disk/lock.ts'
import type { Moment, Occasion } from '../hosts/payload.ts'
import { PostflightError } from '../kernel/errors.ts'
import { claimContinuation } from '../marker/count/claim.ts'
import { noteExpired } from '../marker/count/claim-files.ts'
import { isSpent } from '../marker/loop-guard.ts'
import type { Marker } from '../marker/marker.ts'
import { abandonMarker, changeMarker, endMarker, readMarker } from '../marker/marker-store.ts'
import { type SessionEvent, waitFields } from '../marker/marker-wait.ts'
import type { StoredMarker } from '../marker/stored-marker.ts'
import type { Recorded } from '../project/journal-entry.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { countContinuations } from './observe-stop.ts'
import { type JudgedMarker, type PlannedMarker, planMarker, recordOf, type StopOutcome, stampsWait } from './plan.ts'
import { judgeOwnership, waitVerdict } from './rules.ts'

/** After that, the stop is allowed. */
const MAX_NEW_PLANS = 4

export type CommittedStop = Readonly<Awaited<ReturnType<typeof commitStop>>>

/** Never rejects. */
export async function commitStop(plan: readonly PlannedMarker[], occasion: Occasion) {
  const outcomes: StopOutcome[] = []
  const recorded: Recorded[] = []
  for (const planned of plan) {
    if (isPast(occasion.deadline)) break
    outcomes.push(await occasion.patiently(() => commitMarker(planned, occasion, recorded)))
  }
  return { outcomes, unchecked: plan.length - outcomes.length, recorded }
}

/** A marker that fails must not stop the others: throws only `LockBusy`, before counting. */
function commitMarker(planned: PlannedMarker, moment: Moment, recorded: Recorded[]): StopOutcome {
  const { folder } = planned
  let current = planned
  try {
    for (let plans = 0; plans <= MAX_NEW_PLANS; plans++) {
      if (current.kind === 'unreadable') return current
      const judged = current
      const act = judged.endsWait ? removeWait : commit
      // Plain `rm` takes no lock and may remove a file between two calls.
      const outcome = unlessAbsent(() => act(judged, moment, recorded))
      if (outcome !== undefined) return outcome
      const read = readMarker(folder)
      if (read === undefined) break
      current = planMarker(countContinuations(read, moment), moment)
    }
    return { kind: 'let-go', folder }
  } catch (error) {
    if (error instanceof LockBusy) throw error
    // Another stop abandoned the marker while this one waited for its lock.
    if (isLocked(error) && readMarker(folder) === undefined) return { kind: 'let-go', folder }
    return { kind: 'unreadable', folder, detail: errorText(error) }
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof PostflightError && error.code === 'locked'
}

/** If the write fails, falls back to the original plan, unless that would wait for the same lock again. */
function removeWait(judged: JudgedMarker, moment: Moment, recorded: Recorded[]): StopOutcome | undefined {
  try {
    recorded.push(...updateWait(judged.folder, moment, 'stop'))
    return undefined
  } catch (error) {
    const needsLock = judged.rule === 'capped' || judged.rule === 'bypassed'
    if (error instanceof LockBusy || (needsLock && isLocked(error))) throw error
    return commit(judged, moment, recorded)
  }
}

/** Undefined if the marker changed meanwhile. */
function commit(judged: JudgedMarker, moment: Moment, recorded: Recorded[]): StopOutcome | undefined {
  const { rule, folder, marker, identity } = judged
  switch (rule) {
    case 'block':
      return block(judged, moment)
    case 'capped': {
      const isCapped = (one: StoredMarker, spent: number): boolean => isOwed(one, moment) && isSpent(spent)
      const abandoned = abandonMarker(folder, isCapped)
      return abandoned && { ...judged, ...abandoned }
    }
    case 'bypassed': {
      const ended = endMarker(folder, (one) => judgeOwnership(one, moment) === 'bypassed')
      return ended && { ...judged, ...ended }
    }
    case 'background':
    case 'waiting':
      if (stampsWait(rule, marker, moment)) recorded.push(...updateWait(folder, moment, 'stop'))
      return judged
    case 'expired':
      return noteExpired(folder.path, identity) ? judged : { kind: 'let-go', folder }
    default:
      return judged
  }
}

/** A marker that is only rewritten meanwhile still blocks. */
function block(judged: JudgedMarker, moment: Moment): StopOutcome | undefined {
  const { folder, identity } = judged
  let current: StoredMarker = judged
  const claim = claimContinuation(folder.path, identity, () => {
    const read = readMarker(folder)
    if (read?.kind !== 'marker' || !isOwed(read, moment)) return undefined
    current = read
    return read.identity
  })
  return claim.kind === 'claimed' ? { ...judged, ...current, spent: claim.count - 1 } : undefined
}

function isOwed(stored: StoredMarker, moment: Moment): boolean {
  return judgeOwnership(stored, moment) === 'owed'
}

/** Returns the record of a wait that ended. */
export function updateWait(folder: TaskFolder, moment: Moment, kind: SessionEvent['kind']): readonly Recorded[] {
  const change = (present: Marker) => waitChange(present, moment, kind)
  const { plan, marker } = changeMarker(folder, change, { patienceMs: HOOK_PATIENCE_MS })
  if (plan?.ended === undefined) return []
  return [recordOf({ folder, marker }, moment.payload, { event: 'wait-end', detail: plan.ended })]
}

/** `ended`: what the agent waited for. */
export function waitChange(marker: Marker, moment: Moment, kind: SessionEvent['kind']) {
  const verdict = waitVerdict(marker, moment, kind, Date.now())
  const fields = verdict && waitFields(verdict)
  return fields && { fields, ended: verdict.kind === 'ends' ? marker.wait?.for : undefined }
}
