import fs from 'node:fs'

/** Open files: with which flags they are opened, and how they are written and closed. */

// Not defined on Windows, where links need a privilege and pipes do not lie in folders.
const NO_FOLLOW = fs.constants.O_NOFOLLOW ?? 0
const NON_BLOCKING = fs.constants.O_NONBLOCK ?? 0

/** Flags to open a file for reading. It is never a link, and a named pipe is not waited for. */
export const READING = fs.constants.O_RDONLY | NO_FOLLOW | NON_BLOCKING

/** The same to add to a file at its end; whether it is read too is the caller's to say. */
export const APPENDING = fs.constants.O_APPEND | fs.constants.O_CREAT | NO_FOLLOW | NON_BLOCKING

/** Writes all of `text`: a disk that is nearly full takes a part, and says so only at the next write. */
export function writeWhole(descriptor: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let written = 0; written < bytes.length; ) written += fs.writeSync(descriptor, bytes, written)
}

/** Calls on a descriptor fail without saying for which file. */
export function named(error: unknown, path: string): unknown {
  return error instanceof Error && !('path' in error) ? Object.assign(error, { path }) : error
}

/** Closes a file of which nothing more is wanted: what was read is read, what was written was synced or need not be. */
export function closeQuietly(descriptor: number): void {
  try {
    fs.closeSync(descriptor)
  } catch {
    // Nothing depends on it.
  }
}
