import { parse, postprocess, preprocess } from 'micromark'
import { gfmTaskListItem } from 'micromark-extension-gfm-task-list-item'

/**
 * Reads the task lists of a Markdown text (GFM): `- [ ] text` at any depth, also in quotes, but not in code. Pure. The parser
 * is as large as the rest of a hook, so this is a bundle of its own (`io/workflow/load-checklist.ts`).
 */

/** A task of a list. */
export interface ChecklistTask {
  /** The task's own paragraph on one line, without the box. */
  readonly text: string
  readonly done: boolean
  /** The offset of the character in the box, in UTF-16 units. */
  readonly box: number
}

/** A line that is nested this deeply is not read: the parser's time grows with the square of the depth. */
const TOO_DEEP = /^(?:[ \t]|>|[-*+][ \t]|\d{1,9}[.)][ \t]){200,}\S/m

/** True for a text that `readChecklist` should not be given. */
export function isNestedTooDeeply(text: string): boolean {
  return TOO_DEEP.test(text)
}

/** Only blocks and boxes are needed: without the rest, a text cannot make the parser slow by unclosed brackets. */
const WITHOUT_INLINES = {
  disable: {
    null: [
      ...['attention', 'autolink', 'characterEscape', 'characterReference', 'codeText', 'hardBreakEscape', 'htmlText'],
      ...['labelEnd', 'labelStartImage', 'labelStartLink'],
    ],
  },
}

/** The tasks of a text, in its order. */
export function readChecklist(text: string): ChecklistTask[] {
  // The parser drops a byte order mark and does not count it.
  const start = text.startsWith('\ufeff') ? 1 : 0
  const parser = parse({ extensions: [gfmTaskListItem(), WITHOUT_INLINES] })
  const events = postprocess(parser.document().write(preprocess()(text, undefined, true)))
  const tasks: ChecklistTask[] = []
  let words: string[] | undefined
  let box: { readonly done: boolean; readonly at: number } | undefined
  for (const [kind, { type, start: from, end }] of events) {
    const raw = (): string => text.slice(start + from.offset, start + end.offset)
    if (kind === 'enter' && type === 'paragraph') words = []
    if (kind === 'enter' && type === 'taskListCheckValueChecked') box = { done: true, at: start + from.offset }
    // A line break may stand in a box too, but ticking it would join two lines.
    if (kind === 'enter' && type === 'taskListCheckValueUnchecked' && /^[ \t]$/.test(raw())) {
      box = { done: false, at: start + from.offset }
    }
    if (kind === 'enter' && type === 'data') words?.push(raw().trim())
    if (kind === 'exit' && type === 'paragraph') {
      if (box !== undefined && words !== undefined)
        tasks.push({ text: words.join(' ').trim(), done: box.done, box: box.at })
      box = undefined
      words = undefined
    }
  }
  return tasks
}

/** A task as a run remembers it: its text, and its number among all tasks of the file, from 0. */
export interface KnownTask {
  readonly text: string
  readonly item: number
}

/**
 * The task of a list that a run remembers; undefined if its text is gone. Of several with that text it is the nearest to its
 * old number: the list may have been edited.
 */
export function findTask(tasks: readonly ChecklistTask[], { text, item }: KnownTask): ChecklistTask | undefined {
  const same = tasks.flatMap((task, at) => (task.text === text ? [{ task, distance: Math.abs(at - item) }] : []))
  const nearest = Math.min(...same.map(({ distance }) => distance))
  return same.find(({ distance }) => distance === nearest)?.task
}
