import type { Moment } from '../hosts/occasion.ts'
import { MARKER_FILE } from '../kernel/files.ts'
import { inLine } from '../kernel/text.ts'
import { HOUR_MS } from '../kernel/time.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import type { MarkerIdentity } from './loop-guard.ts'
import type { Marker } from './marker.ts'

/** A marker on disk, as data. */

/** A marker that was read. */
export interface StoredMarker {
  readonly kind: 'marker'
  readonly folder: TaskFolder
  readonly marker: Marker
  readonly text: string
  /** True if `text` is the whole file. */
  readonly whole: boolean
  readonly identity: MarkerIdentity
  readonly times: FileTimes
  /** Since when a process is running its checks (ms since the epoch), if one is. */
  readonly checkingSinceMs?: number | undefined
}

/** A marker that cannot be read: a link, a folder, or a file without permission. */
export interface UnreadableMarker {
  readonly kind: 'unreadable'
  readonly folder: TaskFolder
  readonly detail: string
}

/** The path of a marker for people, relative to its root. */
export function markerDisplayPath(folder: TaskFolder, fileName = MARKER_FILE): string {
  return inLine(`${folder.relative}/${fileName}`)
}

/** The age in ms at which an unowned marker no longer blocks. */
export const UNOWNED_LIFETIME_MS = 24 * HOUR_MS

/** How much older (ms) than its session a marker may seem: clocks and file systems round. */
const SESSION_TOLERANCE_MS = 10_000

/** The times of a marker's file in ms since the epoch: of its content (mtime), and of any change (ctime). */
export interface FileTimes {
  readonly modifiedMs: number
  readonly changedMs: number
}

/** True for a marker without a host session, as plain bash writes it. */
export function isUnowned(marker: Marker): boolean {
  return marker.hostSession === undefined
}

/**
 * The time of the promise in ms since the epoch: `created`, or the file's time. The file's time also replaces a `created`
 * in the future, which would keep an unowned marker alive for ever.
 */
export function promisedAtMs(marker: Marker, { modifiedMs }: FileTimes, nowMs: number): number {
  const { createdMs = modifiedMs } = marker
  return createdMs <= nowMs + HOUR_MS ? createdMs : modifiedMs
}

/** True for an unowned marker that is older than 24 h. */
export function isExpired(marker: Marker, times: FileTimes, nowMs: number): boolean {
  return isUnowned(marker) && nowMs - promisedAtMs(marker, times, nowMs) > UNOWNED_LIFETIME_MS
}

/**
 * True for an unowned marker from before the session: the earlier of `created` and the last change of its file decides.
 * It came from a clone, an archive or a crash, and is not a promise of this session.
 */
export function isFromBefore(marker: Marker, { changedMs }: FileTimes, moment: Pick<Moment, 'sessionBornMs'>): boolean {
  if (!isUnowned(marker) || moment.sessionBornMs === undefined) return false
  return Math.min(marker.createdMs ?? changedMs, changedMs) < moment.sessionBornMs - SESSION_TOLERANCE_MS
}
