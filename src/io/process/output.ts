import fs from 'node:fs'
import { processAgeMs } from './age.ts'

/**
 * Writing to stdout and stderr at once and whole. The platform's streams would cost some 2 ms to load, leave text
 * unwritten when the process ends, and turn a reader that went away into an exit code.
 */

const EAGAIN_PATIENCE_MS = 1_000
const POLL_MS = 5

/** Writes all of `text`. False when nobody reads it (any more). */
export function writeAll(descriptor: 1 | 2, text: string): boolean {
  const bytes = Buffer.from(text)
  const deadline = processAgeMs() + EAGAIN_PATIENCE_MS
  for (let written = 0; written < bytes.length; ) {
    try {
      written += fs.writeSync(descriptor, bytes, written)
    } catch (error) {
      // A pipe that is full for the moment; any other error means that the reader is gone.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || processAgeMs() >= deadline) return false
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS)
    }
  }
  return true
}

/** Whether a person looks at it: asked of the platform only where it may be so. */
export function isTerminal(descriptor: 1 | 2): boolean {
  try {
    return fs.fstatSync(descriptor).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(descriptor)
  } catch {
    return false
  }
}
