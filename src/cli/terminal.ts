import { isTerminal } from '../io/process/output.ts'
import type { Terminal } from './context.ts'

/** The person at the terminal of this process; undefined if there is none. Nothing is loaded before the first question. */
export function processTerminal(): Terminal | undefined {
  if (!isTerminal(0) || !isTerminal(1)) return undefined
  let lines: AsyncIterator<string> | undefined
  return {
    print: (line) => process.stdout.write(`${line}\n`),
    async ask(question) {
      process.stdout.write(question)
      // One reader for all questions, so that lines which are typed ahead are not lost.
      lines ??= process
        .getBuiltinModule('node:readline')
        .createInterface({ input: process.stdin })
        [Symbol.asyncIterator]()
      const next = await lines.next()
      if (next.done === true) process.stdout.write('\n')
      return next.done === true ? undefined : next.value
    },
    close: () => void lines?.return?.(),
  }
}
