import fs from 'node:fs'

/** File descriptors: the flags to open them with, complete writes, closing. */

// Undefined on Windows, where links need a privilege and pipes do not lie in folders.
const NO_FOLLOW = fs.constants.O_NOFOLLOW ?? 0
const NON_BLOCKING = fs.constants.O_NONBLOCK ?? 0

/** The flags to open a file for reading: a link is refused, and opening a named pipe does not wait. */
export const READING = fs.constants.O_RDONLY | NO_FOLLOW | NON_BLOCKING

/** The flags to change a part of a file in its place, with the same protection. */
export const CHANGING = fs.constants.O_RDWR | NO_FOLLOW | NON_BLOCKING

/** The flags to append to a file, with the same protection. The caller adds `O_WRONLY` or `O_RDWR`. */
export const APPENDING = fs.constants.O_APPEND | fs.constants.O_CREAT | NO_FOLLOW | NON_BLOCKING

/** Writes all of `text`: a disk that is nearly full takes a part of it and reports the error only at the next write. */
export function writeWhole(descriptor: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let written = 0; written < bytes.length; ) written += fs.writeSync(descriptor, bytes, written)
}

/** The error with its file's path: calls on a descriptor fail without naming the file. */
export function named(error: unknown, path: string): unknown {
  return error instanceof Error && !('path' in error) ? Object.assign(error, { path }) : error
}

/** Closes a descriptor without throwing: everything was read, or was synced where that matters. */
export function closeQuietly(descriptor: number): void {
  try {
    fs.closeSync(descriptor)
  } catch {}
}
