import { isTerminal, writeAll } from '../io/process/output.ts'
import type { Output } from './report.ts'

/** The stdout and stderr of this process. */

export const standardOutput: Output = {
  write: (text) => writeAll(1, text),
  get isTTY() {
    return isTerminal(1)
  },
  get columns() {
    return isTerminal(1) ? process.stdout.columns : undefined
  },
}

export const standardError: Output = { write: (text) => writeAll(2, text) }
