import fs from 'node:fs'
import path from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { PostflightError } from '../kernel/errors.ts'
import { FILE_DETAILS } from '../kernel/file-messages.ts'
import { sync, temporaryBeside, tryRemoveFile } from './write.ts'

/** Writes files that belong to the user. The hook never loads this. */

/**
 * Writes `text` to a temporary file beside `target`, reads it back, and calls `place` to move it to its place only when it
 * is complete; its name is on disk when this returns. On any failure the temporary file is removed. Without a `mode` the file gets the default rights.
 * @throws {PostflightError} `cannot-write` when a part of the text is missing.
 */
export function withVerifiedFile(
  target: string,
  text: string,
  mode: number | undefined,
  place: (temporary: string) => void,
): void {
  const temporary = temporaryBeside(target)
  try {
    writeFileAtomic.sync(temporary, text, mode === undefined ? {} : { mode })
    // The library calls write once: on a disk that is nearly full, that writes a part of the text without an error.
    if (!fs.readFileSync(temporary).equals(Buffer.from(text))) {
      throw new PostflightError('cannot-write', { path: target, detail: FILE_DETAILS.incompleteWrite })
    }
    place(temporary)
    sync(path.dirname(target))
  } catch (error) {
    // Messages name the user's file, not the temporary one.
    throw Object.assign(error as Error, { path: target })
  } finally {
    tryRemoveFile(temporary)
  }
}
