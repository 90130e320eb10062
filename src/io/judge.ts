import path from 'node:path'
import { isUnowned, judgeCount, judgeOwnership, type Ownership, type Rule } from '../core/decision.ts'
import { MARKER_FILE } from '../core/files.ts'
import type { Payload } from '../core/payload.ts'
import type { SearchProblem } from '../core/task-folder.ts'
import { readSpent } from './continuations/count.ts'
import { errorText } from './fs/errors.ts'
import { readMarker, type StoredMarker, type UnreadableMarker } from './marker-file.ts'
import { foldersHolding, listTaskFolders } from './task-folders.ts'
import { isTrackedContent } from './tracked.ts'

/** Markers as they lie under some roots, each judged by the table of DESIGN section 5. Reads only. */

/** A marker and the rule that fits it. */
export interface JudgedMarker {
  readonly kind: 'judged'
  readonly stored: StoredMarker
  readonly rule: Rule
  /** Continuations spent; 0 where the rule does not ask. */
  readonly spent: number
}

/** A marker that could not be judged: the stop is allowed, and somebody is told. */
export interface UnjudgedMarker {
  readonly kind: 'unjudged'
  readonly folder: StoredMarker['folder']
  readonly detail: string
}

/** Every marker under the roots, in the roots' order and path order, and what could not be searched. */
export function findMarkers(roots: readonly string[]): {
  markers: (StoredMarker | UnreadableMarker)[]
  problems: SearchProblem[]
} {
  const markers: (StoredMarker | UnreadableMarker)[] = []
  const problems: SearchProblem[] = []
  for (const root of roots) {
    const listed = listTaskFolders(root)
    const holding = foldersHolding(listed.folders, MARKER_FILE, listed.problems)
    problems.push(...listed.problems)
    for (const folder of holding) {
      const read = readMarker(folder, MARKER_FILE, true)
      if (read !== undefined) markers.push(read)
    }
  }
  return { markers, problems }
}

/** What would block, count, remove or record something: only then is git asked. */
const ACTED_ON: readonly Ownership[] = ['owed', 'bypassed', 'expired']

/** True for an unowned marker whose very content git tracks: it came with the repository, nobody here promised it. */
export function cameWithClone({ folder, marker }: StoredMarker, fileName: string = MARKER_FILE): boolean {
  return isUnowned(marker) && isTrackedContent(path.join(folder.path, fileName))
}

/** Rows 0 to 6 for a marker as it lies there, and whether it came with a clone. */
export function judgeOwner(stored: StoredMarker, payload: Payload, nowMs: number): Ownership {
  const ownership = judgeOwnership(stored.marker, stored.fileTimeMs, payload, nowMs)
  return ACTED_ON.includes(ownership) && cameWithClone(stored) ? 'tracked' : ownership
}

/** Judges one marker to the end, counting nothing: what `explain` shows. */
export function judgeStored(
  stored: StoredMarker | UnreadableMarker,
  payload: Payload,
  nowMs: number,
): JudgedMarker | UnjudgedMarker {
  if (stored.kind === 'unreadable') return { kind: 'unjudged', folder: stored.folder, detail: stored.detail }
  const ownership = judgeOwner(stored, payload, nowMs)
  if (ownership !== 'owed') return { kind: 'judged', stored, rule: ownership, spent: 0 }
  try {
    const spent = readSpent(stored.folder.path, stored.identity)
    return { kind: 'judged', stored, rule: judgeCount(spent), spent }
  } catch (error) {
    return { kind: 'unjudged', folder: stored.folder, detail: errorText(error) }
  }
}
