import path from 'node:path'
import { COMMAND_PATIENCE_MS, withLockIfRoom } from '../disk/lock.ts'
import { removeFile, sync } from '../disk/write.ts'
import { LOOP_GUARD_FILE, MARKER_FILE, RETURN_META_FILE } from '../kernel/files.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { clearableFiles, isAbandonedName } from './clearable-files.ts'
import { endContinuations } from './count/lifecycle.ts'
import { forgetGivenUp } from './given-up.ts'
import { readMarker, requireReadable } from './marker-file.ts'
import { removeMarker } from './marker-store.ts'
import { abandonUnchecked, mustBeKept, removeOrKeep } from './quarantine.ts'
import type { StoredMarker } from './stored-marker.ts'

/** Removes a task folder's files for `clear`. */

/** The marker and the files that `clearFolder` removed. */
export interface Cleared {
  readonly marker: StoredMarker | undefined
  readonly files: readonly string[]
  /** The abandoned markers that it removed. */
  readonly abandoned: readonly StoredMarker[]
  /** True if the marker had checks that were not run, and is kept as abandoned. */
  readonly isUnchecked: boolean
}

/** How to clear a folder. */
export interface FolderClearing {
  /** True to remove `.return-meta.json` too. */
  readonly returnMeta: boolean
  /** True to keep markers that have checks as abandoned, because they were not run. */
  readonly keepsUnchecked: boolean
  /** Decides under the lock, for the present marker. */
  readonly still: (present: StoredMarker | undefined) => boolean
}

/**
 * Removes marker, loop guard, claims and abandoned markers of a folder. A marker that does not parse is renamed
 * instead. The lock is the only file that it creates, so this works on a full disk.
 * @returns the marker and the files that were removed; undefined where `still` is false.
 * @throws {PostflightError} `marker-unreadable` when a marker or an abandoned one is not a file; nothing is removed then.
 */
export function clearFolder(
  folder: TaskFolder,
  { returnMeta, keepsUnchecked, still }: FolderClearing,
): Cleared | undefined {
  return withLockIfRoom(folder.path, COMMAND_PATIENCE_MS, () => {
    const files = clearableFiles(folder, returnMeta)
    const marker = requireReadable(readMarker(folder))
    if (!still(marker)) return undefined
    const abandoned = files
      .filter(isAbandonedName)
      .map((name) => ({ name, read: requireReadable(readMarker(folder, name), name) }))
    const kept = keepsUnchecked ? abandoned.filter(({ read }) => mustBeKept(read)).map(({ name }) => name) : []
    const removeAbandoned = (): void => {
      for (const { name, read } of abandoned) if (read !== undefined && !kept.includes(name)) removeOrKeep(read, name)
    }
    const isUnchecked = keepsUnchecked && mustBeKept(marker)
    if (isUnchecked) {
      // This comes first, because the marker gets the name of an abandoned one.
      removeAbandoned()
      endContinuations(folder.path, marker.identity, () => abandonUnchecked(marker))
    } else {
      removeMarker(folder, marker)
      removeAbandoned()
    }
    forgetGivenUp(folder)
    for (const name of files) {
      if (name === RETURN_META_FILE || name.endsWith('.tmp')) removeFile(path.join(folder.path, name))
    }
    if (files.some((name) => name !== MARKER_FILE && name !== LOOP_GUARD_FILE)) sync(folder.path)
    const removed = abandoned.flatMap(({ name, read }) => (read === undefined || kept.includes(name) ? [] : read))
    return { marker, files: files.filter((name) => !kept.includes(name)), abandoned: removed, isUnchecked }
  })
}
