import fs from 'node:fs'
import { attempt } from '../kernel/values.ts'
import { processAgeMs, sleepSync } from './age.ts'
import { errorCode } from './file-facts.ts'

/** Node's streams take 2 ms to load, may lose text at the end, and turn a closed pipe into an exit code. */

const EAGAIN_PATIENCE_MS = 1_000
const POLL_MS = 5

/** `EPIPE`: the other end is closed. */
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
      sleepSync(POLL_MS)
    }
  }
  return undefined
}

/** Loads `node:tty` (3 ms) only for a character device. */
export function isTerminal(descriptor: 0 | 1 | 2): boolean {
  const stats = attempt(() => fs.fstatSync(descriptor))
  if (!stats?.isCharacterDevice() || isNullDevice(stats)) return false
  return process.getBuiltinModule('node:tty').isatty(descriptor)
}

/** `isPiped`: the host itself reads from a pipe, so a pipe proves nothing. */
export function isCaught(descriptor: number, { isPiped }: { readonly isPiped: boolean }): boolean {
  const stats = attempt(() => fs.fstatSync(descriptor))
  if (stats?.isFIFO()) return !isPiped
  return stats !== undefined && isNullDevice(stats)
}

function isNullDevice(stats: fs.Stats): boolean {
  const nullDevice = attempt(() => fs.statSync(process.getBuiltinModule('node:os').devNull))
  return stats.isCharacterDevice() && stats.rdev === nullDevice?.rdev
}
