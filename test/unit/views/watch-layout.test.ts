import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { frame } from '../../../src/views/live-view.ts'
import { painterFor, widthOf, wrap } from '../../../src/views/print.ts'

const plain = (row: string): string => row.replace(/\u001b\[[\d;]*m/g, '')

describe('a line that is wrapped', () => {
  it.each<[string, number, readonly string[]]>([
    ['', 10, ['']],
    ['one two three', 10, ['one two', '  three']],
    ['  a bc defghi', 12, ['  a bc', '    defghi']],
    ['0123456789', 10, ['0123456789']],
    ['0123456789ab', 10, ['0123456789', '  ab']],
    ['漢𠮷漢字', 5, ['漢𠮷', ' 漢字']],
    ['e\u0301e\u0301', 2, ['e\u0301e\u0301']],
    ['🚀🚀', 3, ['🚀', ' 🚀']],
    ['      漢', 7, ['漢']],
  ])('%j in %d columns', (line, columns, expected) => expect(wrap(line, columns)).toEqual(expected))

  it.each<[string, number, readonly string[]]>([
    ['0123456789ab', 10, ['0123456789ab']],
    ['see /a/long/path/to/it now', 10, ['see', '  /a/long/path/to/it', '  now']],
    ['Undo: `postflight clear 259` now', 22, ['Undo:', '  `postflight clear 259`', '  now']],
    ['Undo: (`postflight clear`), now', 30, ['Undo: (`postflight clear`),', '  now']],
    ['  `echo 0123456789`', 10, ['  `echo 0123456789`']],
    ["it's a ` alone", 8, ["it's a `", '  alone']],
    ["→ postflight clear 7 --root '/a b' first", 14, ['→', "  postflight clear 7 --root '/a b'", '  first']],
    ['→ postflight workflow stop 7_x; if so', 12, ['→', '  postflight workflow stop 7_x;', '  if so']],
  ])('keeps words and commands whole for people who copy them: %j in %d columns', (line, columns, expected) => {
    expect(wrap(line, columns, true)).toEqual(expected)
  })

  it('ends a colour in each row, and begins it again in the next', () => {
    const [bold, off] = ['\u001b[1m', '\u001b[22m']
    expect(wrap(`${bold}one two${off} x`, 5)).toEqual([`${bold}one\u001b[0m`, ` ${bold}two${off}`, ' x'])
  })

  it('is never wider than the window, and keeps every character but blanks', () => {
    const part = fc.constantFrom('word', 'a', ' ', '  ', '漢', '🚀', 'a-rather-long-word', 'é')
    const text = fc.array(part, { maxLength: 30 })
    fc.assert(
      fc.property(text, fc.integer({ min: 6, max: 40 }), (parts, columns) => {
        const line = parts.join('')
        const rows = wrap(line, columns)
        for (const row of rows) expect(widthOf(plain(row))).toBeLessThanOrEqual(columns)
        expect(plain(rows.join('')).replaceAll(' ', '')).toBe(line.replaceAll(' ', ''))
      }),
    )
  })
})

describe('a screen', async () => {
  const view = { command: 'status', root: '/my\nproject', paint: await painterFor({}, {}) }
  const [head, foot] = ['postflight status  /my project', 'last change 12:00:00 · q quits']
  const more = (count: number): string => `… ${count} more rows: make the window taller`

  it.each([
    [7, [head, '', 'one', 'two', 'three', '', foot]],
    [6, [head, '', 'one', 'two', 'three', foot]],
    [5, [head, '', 'one', more(2), foot]],
    [4, [head, '', more(3), foot]],
    [2, [head, '']],
  ])('of %d rows', (rows, expected) => {
    expect(frame({ columns: 50, rows }, view, ['one', 'two\nthree'], '12:00:00')).toEqual(expected)
  })
})
