import fs from 'node:fs'
import { errorCode } from '../disk/file-errors.ts'
import { isTerminal, writeAll } from '../disk/process-output.ts'
import type { Terminal } from '../project/command-context.ts'
import { printable, wrapped } from '../views/print.ts'
import { standardOutput } from './output.ts'

/** The person at the terminal of this process; undefined if there is none. */
export function processTerminal(): Terminal | undefined {
  if (!isTerminal(0) || !isTerminal(1)) return undefined
  return {
    print: (text) => standardOutput.write(wrapped(`${printable(text, true)}\n`, standardOutput)),
    ask(question) {
      writeAll(1, printable(question, true))
      const answer = readLine()
      if (answer === undefined) writeAll(1, '\n')
      return answer
    },
  }
}

/** The terminal cuts a line there (Linux: 4,095 bytes). */
const LINE_BYTES = 4_096
const POLL_MS = 20

/**
 * Reads one line that a person types; undefined at the end of the input. A terminal hands out one line a read, so lines
 * that are typed ahead wait there. It reads synchronously, because an open stream or a `readline` interface on stdin keeps
 * the process alive after its last line.
 */
function readLine(): string | undefined {
  const bytes = Buffer.alloc(LINE_BYTES)
  for (;;) {
    try {
      const length = fs.readSync(0, bytes)
      return length === 0 ? undefined : bytes.toString('utf8', 0, length).replace(/\r?\n$/, '')
    } catch (error) {
      // EAGAIN: a program before us made the terminal non-blocking. Windows reports the end of the input as EOF.
      if (errorCode(error) !== 'EAGAIN') return undefined
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS)
    }
  }
}
