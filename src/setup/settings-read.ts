import fs from 'node:fs'
import { errorCode, isAbsent, kindAt, kindOfStats } from '../disk/file-facts.ts'
import { PostflightError } from '../kernel/errors.ts'
import { FILE_DETAILS, KIND_NAMES } from '../kernel/file-messages.ts'

/** In bytes. */
const MAX_BYTES = 8_388_608

/** Links are followed, because people link their settings from elsewhere. */
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
