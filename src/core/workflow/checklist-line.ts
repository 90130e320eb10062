import type { ChecklistTask, KnownTask } from './checklist.ts'

/**
 * Finds a task of a Markdown list by its line. A parser takes up to half a second for a long list, which is too much for
 * every stop. Pure.
 */

/** A line that begins with a box, in lists and quotes. It may also stand in code. */
const BOX_LINE = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t][ \t>]*)+\[([ \txX])\][ \t]([^\r\n]*)/gm

/** A next line that does not go on with the text of a task. */
const SEPARATE = /^(?:\r\n|\n|\r)[ \t>]*(?:$|[\r\n]|#|(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ \txX]\][ \t])/

/** A box at the end of a line: the text of its task may stand on the next one. */
const BARE_BOX = /\[[ \txX]\][ \t]*$/m

/**
 * The task that a run remembers; undefined where only the parser can tell. It is certain where one line only has the
 * text, and as many boxes stand before it as there were when the run took the task.
 */
export function findTaskLine(text: string, { text: wanted, item }: KnownTask): ChecklistTask | undefined {
  if (BARE_BOX.test(text)) return undefined
  const found = [...text.matchAll(BOX_LINE)].flatMap((line, at) => (line[2]?.trim() === wanted ? [{ line, at }] : []))
  const [only, ...others] = found
  if (only === undefined || others.length > 0 || only.at !== item) return undefined
  const [whole, mark = '', words = ''] = only.line
  const end = only.line.index + whole.length
  if (end < text.length && !SEPARATE.test(text.slice(end))) return undefined
  return { text: wanted, done: mark === 'x' || mark === 'X', box: end - words.length - 3 }
}
