import fs from 'node:fs'
import { processAgeMs } from './age.ts'
import { errorCode } from './file-facts.ts'

/**
 * Writes to stdout and stderr synchronously and completely. Node's streams take about 2 ms to load, may lose text when
 * the process ends, and turn a closed pipe into an exit code.
 */

const EAGAIN_PATIENCE_MS = 1_000
const POLL_MS = 5

/** Writes all of `text`. Returns the error code if a part of it could not be written; `EPIPE`: the other end is closed. */
export function writeAll(descriptor: 1 | 2, text: string): string | undefined {
  const bytes = Buffer.from(text)
  const deadline = processAgeMs() + EAGAIN_PATIENCE_MS
  for (let written = 0; written < bytes.length; ) {
    try {
      written += fs.writeSync(descriptor, bytes, written)
    } catch (error) {
      const code = errorCode(error)
      // EAGAIN: the pipe is full.
      if (code !== 'EAGAIN' || processAgeMs() >= deadline) return code
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS)
    }
  }
  return undefined
}

/** True when a person is at the other end. Loads `node:tty`, which takes 3 ms, only for a character device. */
export function isTerminal(descriptor: 0 | 1 | 2): boolean {
  try {
    const stats = fs.fstatSync(descriptor)
    if (!stats.isCharacterDevice() || isNullDevice(stats)) return false
    return process.getBuiltinModule('node:tty').isatty(descriptor)
  } catch {
    return false
  }
}

/**
 * True if a descriptor leads into a pipe or to the null device: a program may read its output, but no person does. With
 * `isPiped`, the host itself reads from a pipe, so that a pipe says nothing.
 */
export function isCaught(descriptor: number, { isPiped }: { readonly isPiped: boolean }): boolean {
  try {
    const stats = fs.fstatSync(descriptor)
    return (stats.isFIFO() && !isPiped) || (stats.isCharacterDevice() && isNullDevice(stats))
  } catch {
    return false
  }
}

function isNullDevice(stats: fs.Stats): boolean {
  return stats.rdev === fs.statSync(process.getBuiltinModule('node:os').devNull).rdev
}
