import fs from 'node:fs'
import path from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { FILE_DETAILS } from '../kernel/error-messages.ts'
import { PostflightError } from '../kernel/errors.ts'
import { sync, temporaryBeside, tryRemoveFile } from './write.ts'

/** The hook never loads this. */

export const BACKUP = '.postflight-backup'

/** Reads the temporary file back before `place` moves it. */
export function withVerifiedFile(file: string, text: string, mode: number | undefined, place: (from: string) => void) {
  // After a kill it stays: git ignores it as a backup.
  const temporary = temporaryBeside(file + BACKUP)
  try {
    writeFileAtomic.sync(temporary, text, mode === undefined ? {} : { mode })
    // A nearly full disk takes a part of the text without an error.
    if (!fs.readFileSync(temporary).equals(Buffer.from(text))) {
      throw new PostflightError('cannot-write', { path: file, detail: FILE_DETAILS.incompleteWrite })
    }
    place(temporary)
    sync(path.dirname(file))
  } catch (error) {
    throw Object.assign(error as Error, { path: file })
  } finally {
    tryRemoveFile(temporary)
  }
}
