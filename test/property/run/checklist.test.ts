import fc from 'fast-check'
import { parse, postprocess, preprocess } from 'micromark'
import { gfmTaskListItem } from 'micromark-extension-gfm-task-list-item'
import { expect, it } from 'vitest'
import { type ChecklistTask, readChecklist } from '../../../src/run/definition/checklist.ts'
import { holds } from '../arbitraries.ts'

/** Only blocks and boxes. */
const WITHOUT_INLINES = {
  disable: {
    null: [
      ...['attention', 'autolink', 'characterEscape', 'characterReference', 'codeText', 'hardBreakEscape', 'htmlText'],
      ...['labelEnd', 'labelStartImage', 'labelStartLink'],
    ],
  },
}

function readByMicromark(text: string): ChecklistTask[] {
  const parser = parse({ extensions: [gfmTaskListItem(), WITHOUT_INLINES] })
  const events = postprocess(parser.document().write(preprocess()(text, undefined, true)))
  const tasks: ChecklistTask[] = []
  let words: string[] = []
  let box: { readonly done: boolean; readonly box: number } | undefined
  for (const [kind, { type, start, end }] of events) {
    const raw = text.slice(start.offset, end.offset)
    if (kind === 'enter' && type === 'paragraph') words = []
    if (kind === 'enter' && type === 'taskListCheckValueChecked') box = { done: true, box: start.offset }
    if (kind === 'enter' && type === 'taskListCheckValueUnchecked') box = { done: false, box: start.offset }
    if (kind === 'enter' && type === 'data') words.push(raw.trim())
    if (kind === 'exit' && type === 'paragraph') {
      if (box !== undefined) tasks.push({ text: words.join(' ').trim(), ...box })
      box = undefined
    }
  }
  return tasks
}

// Without what micromark 4.0.3 reads differently from the specification: items that begin with an empty line, a lone tag after
// a paragraph, a number other than 1 after indented code.
const mark = fc.constantFrom(
  ...['', '', '', ' ', '  ', '   ', '    ', '      ', '\t', ' \t', '> ', '>', '>\t', '   > '],
  ...['- ', '-   ', '-\t', '1. ', '1) ', '  - ', '* ', '-      '],
)
const content = fc.constantFrom(
  ...['[ ] a', '[x] b', '[X]\tc', '[ ]', '[ ] ', '[ ]a', '[  ] a', '+ [ ] e', '[ ] d  ', '[ ] \u00a0', '\u00a0'],
  ...['a', 'a b', '# h', '#', '---', '***', '===', '```', '~~~', '```js', '``` `', '`````'],
  ...['<div>', '</div>', 'x <b>', '<!-- c', '-->', '<!-- x -->', '<pre>', '<?x', '?>', '<!X', '<![CDATA[', ']]>'],
)
const end = fc.constantFrom('\n', '\n', '\n\n', '\r\n', '\r')
const line = fc
  .tuple(fc.array(mark, { minLength: 1, maxLength: 4 }), content, end)
  .map(([marks, words, over]) => marks.join('') + words + over)

it('the tasks of any text are those that micromark finds, with the same texts and places', () => {
  holds(300)(fc.array(line, { maxLength: 8 }), (lines) => {
    const text = lines.join('')
    fc.pre(!/(?:[-*+]|1[.)])[ \t]*[\r\n]/.test(text))
    expect(readChecklist(text)).toEqual(readByMicromark(text))
  })
})
