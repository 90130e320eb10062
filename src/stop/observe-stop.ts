import { isPast, partWay } from '../disk/age.ts'
import { errorText } from '../disk/file-errors.ts'
import { birthMs, placeIdentity } from '../disk/file-identity.ts'
import type { Payload } from '../hosts/host.ts'
import { sessionTranscript } from '../hosts/index.ts'
import type { Environment } from '../kernel/environment.ts'
import { ABANDONED_FILE, MARKER_FILE } from '../kernel/files.ts'
import { readLoopGuard } from '../marker/count/loop-guard-file.ts'
import { spentOf } from '../marker/given-up.ts'
import { readMarker } from '../marker/marker-file.ts'
import { checkingSince } from '../marker/run-checks.ts'
import {
  isUnowned,
  markerDisplayPath,
  promisedAtMs,
  type StoredMarker,
  type UnreadableMarker,
} from '../marker/stored-marker.ts'
import type { SearchProblem, TaskFolder } from '../project/task-folder.ts'
import { foldersHolding, listTaskFolders } from '../project/task-folders.ts'
import type { Unfinished } from './answer-for.ts'
import { type ObservedStop, ownershipOf, type SeenMarker, stampsWait } from './plan.ts'
import type { Stop } from './rules.ts'

/** Reads the markers under some roots. Writes nothing. */

/** The markers of some roots, in the roots' order and path order. */
interface FoundMarkers {
  readonly markers: readonly (StoredMarker | UnreadableMarker)[]
  /** Folders that could not be searched. */
  readonly problems: readonly SearchProblem[]
  /** The number of markers that there was no time to read. */
  readonly unread: number
}

/**
 * Reads every file of that name under the roots, until this process is `deadline` ms old. A folder that two roots lead to
 * counts once, for the first root.
 */
export function findMarkers(
  roots: readonly string[],
  fileName: string = MARKER_FILE,
  deadline: number | undefined = undefined,
): FoundMarkers {
  const problems: SearchProblem[] = []
  let unread = 0
  const isFirst = roots.length > 1 ? firstOfItsPlace() : () => true
  const markers = roots.flatMap((root) => {
    const listed = listTaskFolders(root)
    const holding = foldersHolding(listed.folders, fileName, listed.problems)
    problems.push(...listed.problems.filter((problem) => isNew(problem, problems)))
    return holding.filter(isFirst).flatMap((folder) => {
      if (isPast(deadline)) {
        unread += 1
        return []
      }
      return readMarker(folder, fileName, true) ?? []
    })
  })
  return { markers, problems, unread }
}

/**
 * A test that is true for a folder unless it was true for another path to the same folder. The folder is compared, and
 * not the marker in it, which may be replaced between two looks.
 */
function firstOfItsPlace(): (folder: TaskFolder) => boolean {
  const seen = new Set<string>()
  return ({ path }) => {
    const place = placeIdentity(path) ?? path
    const isFirst = !seen.has(place)
    seen.add(place)
    return isFirst
  }
}

function isNew(problem: SearchProblem, known: readonly SearchProblem[]): boolean {
  return known.every(({ path }) => path !== problem.path)
}

/** The event for which markers are observed. */
interface Occasion {
  readonly payload: Payload
  /** ms since the epoch. */
  readonly nowMs: number
  /** Finds when the session began (ms since the epoch). Called only if there is an unowned marker. */
  readonly findSessionBirth: () => number | undefined
  /** Finds when the hook was started (ms since the epoch). Called only where a marker waits and the host gives no prompt. */
  readonly findStart: () => number
  /** The age of this process (ms) at which observing ends; undefined for no limit. */
  readonly deadline?: number | undefined
}

/** The share of the time for observing in which markers are read; in the rest their counts are read. */
const READING_SHARE = 0.5

/** Observes every marker under the roots. */
export function observeStop(roots: readonly string[], occasion: Occasion): ObservedStop {
  const { deadline } = occasion
  const readingEnds = deadline === undefined ? undefined : partWay(deadline, READING_SHARE)
  const { markers, problems, unread } = findMarkers(roots, MARKER_FILE, readingEnds)
  const hasUnowned = markers.some((read) => read.kind === 'marker' && isUnowned(read.marker))
  const sessionBornMs = hasUnowned ? occasion.findSessionBirth() : undefined
  const isStartNeeded =
    occasion.payload.prompt === undefined &&
    markers.some((read) => read.kind === 'marker' && read.marker.wait !== undefined)
  const startMs = isStartNeeded ? occasion.findStart() : undefined
  const seen: SeenMarker[] = []
  for (const read of markers) {
    if (isPast(deadline)) break
    seen.push(countContinuations(read, { ...occasion, sessionBornMs, startMs }))
  }
  return { markers: seen, problems, unchecked: unread + markers.length - seen.length, sessionBornMs, startMs }
}

/** The marker with its count, which is read only where it matters. */
export function countContinuations(read: StoredMarker | UnreadableMarker, stop: Stop): SeenMarker {
  if (read.kind === 'unreadable') return read
  const checkingSinceMs = read.marker.checks.length === 0 ? undefined : checkingSince(read.folder.path)
  return { ...read, spent: spentAt(read, stop), checkingSinceMs }
}

/** The continuations spent, as far as the stop needs them; 0 where it does not. */
function spentAt(stored: StoredMarker, stop: Stop): number | { readonly unknown: string } {
  try {
    const ownership = ownershipOf(stored, stop)
    if (ownership === 'owed') return spentOf(stored)
    // Ending or rewriting the marker needs no count, but it needs a loop guard that is a file: any other kind fails
    // here.
    if (ownership === 'bypassed' || stampsWait(stored, stop)) readLoopGuard(stored.folder.path)
    return 0
  } catch (error) {
    return { unknown: errorText(error) }
  }
}

/** The unfinished postflights under the roots, and the files and folders that could not be read. */
export function observeUnfinished(
  roots: readonly string[],
  { nowMs, deadline }: Pick<Occasion, 'nowMs' | 'deadline'>,
): { readonly unfinished: readonly Unfinished[]; readonly problems: readonly SearchProblem[] } {
  const problems: SearchProblem[] = []
  const unfinished = [MARKER_FILE, ABANDONED_FILE].flatMap((fileName) => {
    const found = findMarkers(roots, fileName, deadline)
    const unreadable = found.markers.filter((read) => read.kind === 'unreadable')
    problems.push(
      ...found.problems.filter((problem) => isNew(problem, problems)),
      ...unreadable.map(({ folder, detail }) => ({ path: markerDisplayPath(folder, fileName), detail })),
    )
    const state = fileName === MARKER_FILE ? ('pending' as const) : ('abandoned' as const)
    return found.markers
      .filter((read) => read.kind === 'marker')
      .map(({ folder, marker, times }) => ({
        state,
        folder,
        marker,
        ageMs: nowMs - promisedAtMs(marker, times, nowMs),
      }))
  })
  return { unfinished, problems }
}

/** The time at which the payload's session began, in ms since the epoch; undefined if it is unknown. */
export function sessionBirthMs(payload: Payload, environment: Environment): number | undefined {
  const transcript = sessionTranscript(payload, environment)
  return transcript === undefined ? undefined : birthMs(transcript)
}
