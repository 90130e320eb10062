import fs from 'node:fs'
import { PostflightError } from '../../core/errors.ts'
import { errorCode, isAbsent } from '../fs/errors.ts'
import { kindAt } from '../fs/path-kind.ts'

/** Reading settings files. */

/** The largest settings file that is read, in bytes. */
const MAX_BYTES = 8_388_608

/**
 * The file's text; undefined where there is none. Links are followed: people link their settings from elsewhere.
 * @throws {PostflightError} `file-unreadable`, also for what a read would wait for (a named pipe) or choke on.
 */
export function readSettingsFile(file: string): string | undefined {
  const refuse = (detail: string, cause?: unknown): never => {
    throw new PostflightError('file-unreadable', { path: file, detail }, cause)
  }
  try {
    const stats = fs.statSync(file, { throwIfNoEntry: false })
    if (stats === undefined) return kindAt(file) === undefined ? undefined : refuse('a link that leads nowhere')
    if (!stats.isFile()) return refuse(stats.isDirectory() ? 'a folder' : 'no regular file')
    if (stats.size > MAX_BYTES) return refuse(`larger than ${MAX_BYTES} bytes`)
    // Bytes that are not UTF-8 would be lost when the file is written again.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fs.readFileSync(file))
  } catch (error) {
    if (error instanceof PostflightError) throw error
    return isAbsent(error) ? undefined : refuse(errorCode(error), error)
  }
}
