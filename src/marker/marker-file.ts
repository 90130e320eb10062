import path from 'node:path'
import { readSmallFile } from '../disk/read.ts'
import { PostflightError } from '../kernel/errors.ts'
import { MARKER_FILE } from '../kernel/files.ts'
import type { TaskFolder } from '../project/task-folder.ts'

import { MARKER_MAX_BYTES, parseMarker, unparsed } from './marker.ts'
import { checkingSince } from './run-checks.ts'
import { markerDisplayPath, type StoredMarker, type UnreadableMarker } from './stored-marker.ts'

/** Readers need no lock. */

/** Never throws. `likely`: the caller has just seen the file. */
export function readMarker(
  folder: TaskFolder,
  fileName: string = MARKER_FILE,
  likely = false,
): StoredMarker | UnreadableMarker | undefined {
  const read = readSmallFile(`${folder.path}${path.sep}${fileName}`, MARKER_MAX_BYTES, likely)
  if (read.kind === 'absent') return undefined
  if (read.kind === 'unreadable') return { kind: 'unreadable', folder, detail: read.detail }
  const marker = read.whole ? parseMarker(read.text) : unparsed({ code: 'too-large' })
  return {
    kind: 'marker',
    folder,
    marker,
    text: read.text,
    whole: read.whole,
    identity: { id: marker.id, file: read.identity },
    times: { modifiedMs: read.modifiedMs, changedMs: read.changedMs },
    ...(marker.checks.length > 0 && { checkingSinceMs: checkingSince(folder.path) }),
  }
}

export function requireReadable(
  read: StoredMarker | UnreadableMarker | undefined,
  fileName: string = MARKER_FILE,
): StoredMarker | undefined {
  if (read?.kind === 'unreadable') {
    throw new PostflightError('marker-unreadable', {
      path: markerDisplayPath(read.folder, fileName),
      detail: read.detail,
    })
  }
  return read
}
