import { MARKER_FILE } from '../kernel/files.ts'
import { inLine } from '../kernel/text.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import type { FileTimes } from '../stop/rules.ts'
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
