import { stripControl } from '../kernel/text.ts'
import type { Output } from './print.ts'

/**
 * Cleans everything that the CLI prints: names of folders, and what files hold, may come from a hostile repository, and a
 * terminal would obey their escape sequences. Commands need not think of it.
 */

/** The sequences of the painter, and the one that ends a wrapped row. */
const COLOURS = /(\u001b\[(?:0|1|2|22|31|32|33|39)m)/

/** The text without control characters; on a terminal the painter's colours stay. */
export function printable(text: string, isTerminal: boolean): string {
  if (!isTerminal) return stripControl(text)
  return text
    .split(COLOURS)
    .map((part, index) => (index % 2 === 1 ? part : stripControl(part)))
    .join('')
}

/** The output, which prints clean text only. */
export function cleanOutput(output: Output): Output {
  return {
    write: (text) => output.write(printable(text, output.isTTY === true)),
    get isTTY() {
      return output.isTTY === true
    },
    get columns() {
      return output.columns
    },
  }
}
