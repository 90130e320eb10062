import type { Moment } from '../hosts/payload.ts'
import { MARKER_FILE } from '../kernel/files.ts'
import { inLine } from '../kernel/text.ts'
import { HOUR_MS } from '../kernel/time.ts'
import { isMarkerId, type TaskFolder } from '../project/task-folder.ts'
import type { MarkerIdentity } from './loop-guard.ts'
import type { Marker } from './marker.ts'

export interface StoredMarker {
  readonly kind: 'marker'
  readonly folder: TaskFolder
  readonly fileName: string
  readonly marker: Marker
  readonly text: string
  readonly identity: MarkerIdentity
  readonly times: FileTimes
  /** In ms since the epoch. */
  readonly checkingSinceMs?: number | undefined
}

/** A link, a folder, or a file without permission. */
export type UnreadableMarker = Readonly<{ kind: 'unreadable'; folder: TaskFolder; fileName?: string; detail: string }>
export type MarkerRead = StoredMarker | UnreadableMarker

export function markerDisplayPath(folder: TaskFolder, fileName = MARKER_FILE): string {
  return inLine(`${folder.relative}/${fileName}`)
}

export const UNOWNED_LIFETIME_MS = 24 * HOUR_MS
/** In ms: clocks and file systems round. */
const SESSION_TOLERANCE_MS = 10_000

/** mtime and ctime in ms since the epoch. */
export type FileTimes = Readonly<Record<'modifiedMs' | 'changedMs', number>>

export function isUnowned(marker: Marker): boolean {
  return marker.hostSession === undefined
}

/** In ms since the epoch. A future `created` would keep an unowned marker alive forever. */
export function madeAtMs(marker: Marker, { modifiedMs }: FileTimes, nowMs: number): number {
  const { createdMs = modifiedMs } = marker
  return createdMs <= nowMs + HOUR_MS ? createdMs : modifiedMs
}

export function isExpired(marker: Marker, times: FileTimes, nowMs: number): boolean {
  return isUnowned(marker) && nowMs - madeAtMs(marker, times, nowMs) > UNOWNED_LIFETIME_MS
}

/** Whether it came from a clone, an archive or a crash. */
export function isLeftover(marker: Marker, { changedMs }: FileTimes, moment: Pick<Moment, 'sessionBornMs'>): boolean {
  if (!isUnowned(marker) || moment.sessionBornMs === undefined) return false
  return Math.min(marker.createdMs ?? changedMs, changedMs) < moment.sessionBornMs - SESSION_TOLERANCE_MS
}

/** Identifies a marker, also after a rewrite. Undefined without id and `created`: skills write the same bytes again. */
export function markerKey({ id, createdMs, sessionId = '' }: Marker): string | undefined {
  if (isMarkerId(id)) return id
  return createdMs === undefined ? undefined : `${createdMs} ${JSON.stringify(sessionId.slice(0, 120))}`
}
