import { isTerminal, writeAll } from '../disk/process-output.ts'
import { PostflightError } from '../kernel/errors.ts'
import type { Output } from '../views/print.ts'

/** The stdout and stderr of this process. */

/** A reader that stops reading (`| head -1`) has what it wants. On a full disk the result would be lost. */
const READER_GONE: readonly string[] = ['EPIPE', 'EAGAIN']

export const standardOutput: Output = {
  write(text) {
    const failure = writeAll(1, text)
    if (failure !== undefined && !READER_GONE.includes(failure)) {
      throw new PostflightError('output-unwritable', { detail: failure })
    }
    return failure === undefined
  },
  get isTTY() {
    return isTerminal(1)
  },
  get columns() {
    return isTerminal(1) ? process.stdout.columns : undefined
  },
}

export const standardError: Output = {
  write: (text) => writeAll(2, text),
  get columns() {
    return isTerminal(2) ? process.stderr.columns : undefined
  },
}
