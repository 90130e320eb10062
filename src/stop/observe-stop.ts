import { isPast, partWay } from '../disk/age.ts'
import { birthMs, errorText } from '../disk/file-facts.ts'
import { sessionTranscript } from '../hosts/all-hosts.ts'
import type { Moment, Occasion, Payload } from '../hosts/payload.ts'
import { ABANDONED_FILE, MARKER_FILE } from '../kernel/files.ts'
import type { Environment } from '../kernel/values.ts'
import { readLoopGuard } from '../marker/count/count.ts'
import { spentOf } from '../marker/given-up.ts'
import { readMarker } from '../marker/marker-store.ts'
import { type MarkerRead, madeAtMs, markerDisplayPath, type StoredMarker } from '../marker/stored-marker.ts'
import type { SearchProblem } from '../project/task-folder.ts'
import { firstOfItsPlace, foldersHolding, listTaskFolders } from '../project/task-folders.ts'
import { type SeenMarker, stampsWait } from './plan.ts'
import { judgeOwnership } from './rules.ts'

/** Writes nothing. */

/** Reads until this process is `deadline` ms old. */
export function findMarkers(roots: readonly string[], fileName = MARKER_FILE, deadline?: number) {
  return readMarkers(roots.map(listTaskFolders), fileName, deadline)
}

function readMarkers(roots: readonly ReturnType<typeof listTaskFolders>[], fileName: string, deadline?: number) {
  const problems: SearchProblem[] = []
  let unread = 0
  const isFirst = roots.length > 1 ? firstOfItsPlace() : () => true
  const markers = roots.flatMap((listed) => {
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
  // One answer lists all markers.
  return { markers: markers.sort(byPath), problems, unread }
}

type InFolder = Pick<StoredMarker, 'folder'>

export function byPath({ folder: one }: InFolder, { folder: other }: InFolder): number {
  return one.path < other.path ? -1 : 1
}

function isNew(problem: SearchProblem, known: readonly SearchProblem[]): boolean {
  return known.every(({ path }) => path !== problem.path)
}

/** The rest of the time is for acting. */
const OBSERVING_SHARE = 0.6
/** The rest of the time is for counts. */
const READING_SHARE = 0.5

export function observeStop(occasion: Occasion) {
  const { roots, deadline } = occasion
  const observingEnds = partWay(deadline, OBSERVING_SHARE)
  const readingEnds = partWay(observingEnds, READING_SHARE)
  const { markers, problems, unread } = findMarkers(roots, MARKER_FILE, readingEnds)
  const seen: SeenMarker[] = []
  for (const read of markers) {
    if (isPast(observingEnds)) break
    seen.push(countContinuations(read, occasion))
  }
  return { markers: seen, problems, unchecked: unread + markers.length - seen.length }
}

export function countContinuations(read: MarkerRead, moment: Moment): SeenMarker {
  if (read.kind === 'unreadable') return read
  const { folder, marker } = read
  try {
    const ownership = judgeOwnership(read, moment)
    if (ownership === 'owed') return { ...read, spent: spentOf(read) }
    // Fails if the loop guard is not a file.
    if (ownership === 'bypassed' || stampsWait(ownership, marker, moment)) readLoopGuard(folder.path)
    return { ...read, spent: 0 }
  } catch (error) {
    return { kind: 'unreadable', folder, detail: errorText(error) }
  }
}

export function observeUnfinished({ roots, nowMs, deadline }: Pick<Occasion, 'roots' | 'nowMs' | 'deadline'>) {
  const problems: SearchProblem[] = []
  let unread = 0
  const readingEnds = partWay(deadline, OBSERVING_SHARE)
  const listed = roots.map(listTaskFolders)
  const unfinished = [MARKER_FILE, ABANDONED_FILE].flatMap((fileName) => {
    const found = readMarkers(listed, fileName, readingEnds)
    unread += found.unread
    const unreadable = found.markers.filter((read) => read.kind === 'unreadable')
    problems.push(
      ...found.problems.filter((problem) => isNew(problem, problems)),
      ...unreadable.map(({ folder, detail }) => ({ path: markerDisplayPath(folder, fileName), detail })),
    )
    const state = fileName === MARKER_FILE ? ('pending' as const) : ('abandoned' as const)
    const readable = found.markers.filter((read) => read.kind === 'marker')
    return readable.map(({ folder, marker, times }) => {
      return { state, folder, marker, ageMs: nowMs - madeAtMs(marker, times, nowMs) }
    })
  })
  return { unfinished, problems, unread }
}

/** In ms since the epoch. */
export function sessionBirthMs(payload: Payload, environment: Environment): number | undefined {
  const transcript = sessionTranscript(payload, environment)
  return transcript === undefined ? undefined : birthMs(transcript)
}
