import fs from 'node:fs'
import { errorCode, isAbsent, kindAt, kindOfStats } from '../disk/file-facts.ts'
import { PostflightError } from '../kernel/errors.ts'
import { FILE_DETAILS, KIND_NAMES } from '../kernel/file-messages.ts'

/** Reads settings files. */

/** The size of the largest settings file that is read, in bytes. */
const MAX_BYTES = 8_388_608

/**
 * The file's text; undefined where there is none. Links are followed, because people link their settings from elsewhere.
 * @throws {PostflightError} `file-unreadable`, also for anything but a file, a file that is too large, or invalid UTF-8.
 */
export function readSettingsFile(file: string): string | undefined {
  const refuse = (detail: string, cause?: unknown): never => {
    throw new PostflightError('file-unreadable', { path: file, detail }, cause)
  }
  try {
    const stats = fs.statSync(file, { throwIfNoEntry: false })
    if (stats === undefined) return kindAt(file) === undefined ? undefined : refuse(FILE_DETAILS.brokenLink)
    if (!stats.isFile()) return refuse(KIND_NAMES[kindOfStats(stats)])
    if (stats.size > MAX_BYTES) return refuse(FILE_DETAILS.largerThan(MAX_BYTES))
    // Invalid UTF-8 would be lost when the file is written again.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fs.readFileSync(file))
  } catch (error) {
    if (error instanceof PostflightError) throw error
    return isAbsent(error) ? undefined : refuse(errorCode(error), error)
  }
}
