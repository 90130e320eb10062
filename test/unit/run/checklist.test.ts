import { describe, expect, it } from 'vitest'
import { type ChecklistTask, findTask, readChecklist as read } from '../../../src/run/definition/checklist.ts'

function readChecklist(text: string): ChecklistTask[] {
  const tasks = read(text)
  if (tasks === undefined) throw new Error('nested too deeply')
  return tasks
}

/** The tasks of a text, as `[x] text`. */
function tasksIn(text: string): string[] {
  return readChecklist(text).map((task) => `[${task.done ? 'x' : ' '}] ${task.text}`)
}

describe('the tasks of a Markdown text', () => {
  it.each<[string, string, string[]]>([
    ['a list', '- [ ] one\n- [x] two\n- [X] three\n', ['[ ] one', '[x] two', '[x] three']],
    ['every kind of list', '* [ ] a\n\n+ [ ] b\n\n1. [ ] c\n\n2) [ ] d\n', ['[ ] a', '[ ] b', '[ ] c', '[ ] d']],
    ['nested lists', '- [ ] a\n  - [x] b\n    1. [ ] c\n', ['[ ] a', '[x] b', '[ ] c']],
    ['a list in a quote', '> - [ ] a\n>   and more\n', ['[ ] a and more']],
    ['a text of several lines', '- [ ] a\n  b\nc\n\n  not d\n', ['[ ] a b c']],
    ['line ends of Windows', '- [ ] a\r\n- [x] b\r\n  c\r\n', ['[ ] a', '[x] b c']],
    ['marks', '- [ ] T1 [P] **b** `code` [link](x) &amp; \\*\n', ['[ ] T1 [P] **b** `code` [link](x) &amp; \\*']],
    ['a byte order mark', '\ufeff- [ ] a\n', ['[ ] a']],
    ['a tab in the box', '- [\t] a\n', ['[ ] a']],
    ['no-break spaces at the ends of lines', '- [ ] a\u00a0\n  b\n  \u00a0\n', ['[ ] a b']],
    ['a text with a tag in a second line', '* \t[\t] c\n</b>\n***', ['[ ] c </b>']],
    ['a text that goes on after an empty box', '-\t[ ] \n===\n    2. -  a\n[ ] \n', ['[ ] === 2. -  a [ ]']],
    ['a number without a text', '- [ ]\n\t1.', ['[ ] 1.']],
    ['a text before an empty mark', '2. [\t] c\n\t* ', ['[ ] c *']],
    ['a list after a fence around a mark', '``` \n-   \n```\n* [\t] c', ['[ ] c']],
    ['a list after a comment', '<!--\n--> a\n2. [ ] a\n', ['[ ] a']],
    ['an item that begins with an empty line', '* -\n\t[\t] c\n', ['[ ] c']],
    ['a list below a heading in an item', '* # h\n\n     -  [x] b\n', ['[x] b']],
    [
      'spec-kit',
      '## Setup\n\n- [ ] T1 Make\n- [x] T2 [P] [US1] Test\n\n---\n',
      ['[ ] T1 Make', '[x] T2 [P] [US1] Test'],
    ],
  ])('are those of %s', (_, text, expected) => expect(tasksIn(text)).toEqual(expected))

  it.each([
    ['a fenced block', '```\n- [ ] a\n```\n'],
    ['a fenced block in a list', '- b\n\n  ~~~md\n  - [ ] a\n  ~~~\n'],
    ['an indented block', 'Text\n\n    - [ ] a\n'],
    ['a comment', '<!--\n- [ ] a\n-->\n'],
    ['a paragraph', '[ ] a\n'],
    ['a list item that begins otherwise', '- a [ ] b\n'],
    ['a second paragraph of an item', '- a\n\n  [ ] b\n'],
    ['a box without a text', '- [ ]\n- [ ]a\n'],
    ['a box with a line break', '- [\n  ] a\n'],
    ['a definition', '- [x]: /there\n'],
    ['a heading', '- # [ ] a\n'],
    ['code in the line', '- `[ ] a`\n'],
    ['a heading of two lines in nested items', 'a\n* - -    [ ] a\n    \t\t-'],
    ['a fence that the end of its item ends', '* ~~~~\n[\t] c\n'],
    ['a fence that a shorter one does not end', '~~~~\n~~~\n* [\t] c\n'],
    ['lines below a tag', '</b>\na\n* [\t] c'],
    ['an empty text', ''],
    ['a line after two byte order marks', '\ufeff\ufeff- [x] a\n'],
  ])('are not in %s', (_, text) => expect(tasksIn(text)).toEqual([]))

  it('have boxes whose place is exact, whatever stands before them', () => {
    const text = '\ufeff# Größe 𝒳\r\n\r\n\t\n1. [ ] é\r\n   - [x]\tb\n> * [ ] c\r- [ ] d'
    const boxes = readChecklist(text).map(({ box }) => [text[box - 1], text[box], text[box + 1]].join(''))
    expect(boxes).toEqual(['[ ]', '[x]', '[ ]', '[ ]'])
  })
})

const NESTED = Array.from({ length: 120 }, (_, depth) => `${'  '.repeat(depth)}- a`)
it.each([
  ['lists on one line', `${'- '.repeat(250)}a`, true],
  ['numbered lists on one line', `${'1. '.repeat(250)}a`, true],
  ['quotes', `a\n${'>'.repeat(300)} a`, true],
  ['lists over several lines', NESTED.join('\n'), true],
  ['a hundred lists', `${'- '.repeat(100)}a`, false],
  ['one list more', `${'- '.repeat(101)}a`, true],
  ['indentation', `- a\n${' '.repeat(250)}- [ ] b`, false],
  ['a usual list', '- a\n  - b\n    - [ ] c\n', false],
  ['empty lines', '\n'.repeat(500), false],
  ['a line of spaces', `${' '.repeat(500)}\na`, false],
  ['a divider', '-'.repeat(500), false],
  ['a long line', `- [ ] ${'a'.repeat(1000)}`, false],
])('a text that is nested too deeply is known: %s', (_, text, expected) => {
  expect(read(text) === undefined).toBe(expected)
})

const lines = (...parts: readonly string[]): string => {
  const text = parts.join('\n')
  return `${text}\n`.repeat(131_072 / (text.length + 1))
}

it.each<[string, string]>([
  ['lists in lists', lines('1. - [ ]')],
  ['empty items', lines('- -')],
  ['headings', lines('a', '=')],
  ['mixed lists', lines('1. -')],
  ['many tasks', lines('1. - [ ] a')],
  ['quotes in lists', lines('> 1. > - [ ] a')],
  ['paragraphs that go on', lines('> a', 'b')],
  ['one paragraph', lines('a')],
  ['a hundred lists, and empty lines', `${'- '.repeat(100)}a${lines('')}`],
  ['a hundred lists in each line', lines(`${'- '.repeat(100)}a`)],
  ['dividers that are none', `${'- '.repeat(90)}${'* '.repeat(60_000)}a`],
  ['marks of a fence', `${'`'.repeat(131_070)}a\``],
  ['blanks', ' '.repeat(131_072)],
  ['a divider with blanks', `* *${' '.repeat(131_000)}a`],
  ['a tag that does not end', `<a${' b'.repeat(65_000)}`],
  ['a tag with blanks', `<a b${' '.repeat(131_000)}`],
  ['comments', lines('<!--', '-->')],
])('a list that should make a stop slow is read in time: %s', (_, text) => {
  const before = process.cpuUsage()
  read(text)
  const { user, system } = process.cpuUsage(before)
  // Usually under 60 ms; micromark took up to 4 minutes.
  expect((user + system) / 1000).toBeLessThan(1_000)
})

it.each<[string, string, { text: string; item: number }, number | undefined]>([
  ['is the one with its number', '- [ ] a\n- [ ] a\n', { text: 'a', item: 1 }, 11],
  ['is found although it was ticked', '- [x] a\n- [ ] a\n', { text: 'a', item: 0 }, 3],
  ['is found after tasks were added before it', '- [ ] new\n- [ ] a\n', { text: 'a', item: 0 }, 13],
  ['is the nearest of several', '- [ ] a\n- [ ] b\n- [ ] a\n', { text: 'a', item: 2 }, 19],
  ['is not a task with another text', '- [ ] b\n', { text: 'a', item: 0 }, undefined],
  ['is not found in an empty file', '', { text: 'a', item: 0 }, undefined],
])('a task that a run remembers %s', (_, text, task, expected) => {
  expect(findTask(readChecklist(text), task)?.box).toBe(expected)
})
