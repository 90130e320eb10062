import { describe, expect, it } from 'vitest'
import { closestName, cut, inLine, oneLine, shellWord, shellWords, stripControl } from '../../../src/kernel/text.ts'

describe('control characters', () => {
  const everyCode = Array.from({ length: 0xd800 }, (_, code) => code)
  const turnsDirection = (code: number): boolean =>
    (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)
  const isControl = (code: number): boolean =>
    (code < 0x20 && code !== 0x09 && code !== 0x0a) || (code >= 0x7f && code <= 0x9f) || turnsDirection(code)

  it('C0 except newline and tab, DEL, C1 and direction changes are removed, and nothing else', () => {
    const removed = everyCode.filter((code) => stripControl(`a${String.fromCharCode(code)}b`) === 'ab')
    expect(removed).toEqual(everyCode.filter(isControl))
    const kept = everyCode.filter((code) => !isControl(code)).map((code) => String.fromCharCode(code))
    expect(stripControl(kept.join(''))).toBe(kept.join(''))
  })

  it.each([
    ['the rest of a terminal escape is plain text', '\u001b[31mred \u009b2J\u001b]0;title\u0007', '[31mred 2J]0;title'],
    ['CRLF becomes a newline', 'one\r\ntwo', 'one\ntwo'],
  ])('%s', (_, text, expected) => {
    expect(stripControl(text)).toBe(expected)
  })
})

describe('surrogates', () => {
  it.each([
    ['a high one', 'a\ud83d b', 'a b'],
    ['a low one', 'a\ude00b', 'ab'],
    ['two in the wrong order', '\ude00\ud83d', ''],
    ['one before a pair', '\ud83d\ud83d\ude00', '😀'],
    ['none, because the pairs are whole,', '😀👩‍👩‍👧 𝒳', '😀👩‍👩‍👧 𝒳'],
  ])('%s without its other half is removed: strict JSON readers refuse it', (_, text, expected) => {
    expect(stripControl(text)).toBe(expected)
  })
})

describe('cut', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['abc', 1, '…'],
    ['', 0, ''],
  ])('%j to %i units is %j', (text, limit, expected) => {
    expect(cut(text, limit)).toBe(expected)
  })

  it('never splits a surrogate pair', () => {
    expect(cut('a😀😀', 3)).toBe('a…')
    expect(cut('a😀😀', 4)).toBe('a😀…')
    expect(cut('😀😀', 2)).toBe('…')
    for (const pair of ['\ud800\udc00', '\udbff\udfff']) expect(cut(`a${pair}b`, 3)).toBe('a…')
  })
})

describe('one line', () => {
  it.each([
    ['newlines, tabs and runs of spaces become one space', ' a\n\n b\t c  d ', 'a b c d'],
    ['so do the line separators of Unicode', 'a\u2028b\u2029c\u00a0d', 'a b c d'],
  ])('%s', (_, text, expected) => {
    expect(oneLine(text, 80)).toBe(expected)
  })

  const nuls = (count: number): string => '\u0000'.repeat(count)
  it.each([
    ['the limit, after cleaning', '\u0007\u0007\u0007abc', 3, 'abc'],
    ['four times the limit before cleaning, so that megabytes cost little', `${nuls(39)}ab`, 10, 'a'],
    ['four times the limit, where nothing may be left', `${nuls(40)}b`, 10, ''],
    ['four times the limit, where a pair must not leave a half', `${nuls(7)}😀`, 2, ''],
  ])('is cut at %s', (_, text, limit, expected) => {
    expect(oneLine(text, limit)).toBe(expected)
  })
})

describe('a path on one line of a terminal', () => {
  it('is unchanged, whatever its length, but without newlines, tabs and control characters', () => {
    const path = `/my  folder/${'x'.repeat(5000)}/😀`
    expect(inLine(`${path}\nb\tc\r\u001b[2J\u009b\ud83d/d`)).toBe(`${path} b c[2J/d`)
  })
})

describe('a word for the shell', () => {
  it.each('clear 259_prove_completeness --root /home/me/a-b/c.d a=b user@host:1,2 . 100% a+b'.split(' '))(
    '%s is unchanged',
    (word) => {
      expect(shellWord(word)).toBe(word)
    },
  )

  it.each([
    ['', "''"],
    ['two words', "'two words'"],
    ["it's", "'it'\\''s'"],
    ["'", "''\\'''"],
    ...['$HOME', '`id`', 'a;b', 'a"b', 'a\\b', '~', 'a\nb', '*', 'ä', '!x', '#x'].map((word) => [word, `'${word}'`]),
  ])('%j is quoted', (word, expected) => {
    expect(shellWord(word)).toBe(expected)
  })
})

describe('the words of a command', () => {
  it.each([
    ['clear', ['clear']],
    ['  clear \t 259  \n', ['clear', '259']],
    [`"with space"/'and "more"'/plain`, ['with space/and "more"/plain']],
    ['"\\"\\\\\\`\\$(id) $HOME $PWD it\'s # |"', ['"\\`$(id) $HOME $PWD it\'s # |']],
    ['"C:\\Users\\me" C:\\Users\\_x\\.y\\ü', ['C:\\Users\\me', 'C:\\Users\\_x\\.y\\ü']],
    ['~/x $HOME/$NAME-y a=b', ['~/x', '$HOME/$NAME-y', 'a=b']],
    ['\'a\nb\' "a\nb"', ['a\nb', 'a\nb']],
  ])('%j', (line, words) => {
    expect(shellWords(line)).toEqual(words)
  })

  it.each([
    ...['', ' ', 'a | b', 'a && b', 'a; b', 'a &', 'a > b', 'a < b', 'a 2>&1', 'a\nb', 'a\\\nb', '(a)', '! a', '# a'],
    'a #b',
    ...['$(a)', 'a $(b)', '"$(a)"', '`a`', '"`a`"', '/x/*', 'a?', '[a]', 'A=b a', '"a', "'a", "it's", 'a\\', '"a\\"'],
  ])('%j is not exactly one command with its words', (line) => {
    expect(shellWords(line)).toBeUndefined()
  })
})

const NAMES = ['id', 'name', 'prompt', 'prompt_file', 'step_prompt', 'steps', 'from']

it.each<(string | undefined)[]>([
  ['prompts', 'prompt'],
  ['promt', 'prompt'],
  ['prumpt', 'prompt'],
  ['prompt_fiel', 'prompt_file'],
  ['Step_Prompt', 'step_prompt'],
  ['form', 'from'],
  // Half of a swap is not one: each of these takes two edits.
  ...['orfm', 'foxm', 'fxrm'].map((name) => [name, undefined]),
  ['step', 'steps'],
  ['prompt', 'prompt'],
  ...['ids', 'fort', '', 'x'.repeat(10_000)].map((name) => [name, undefined]),
])('the name closest to %.20j is %s', (name = '', expected) => {
  expect(closestName(name, NAMES)).toBe(expected)
})

it('the closest of several close names is suggested', () => {
  expect(closestName('min_item', ['maxItems', 'min_bytes', 'min_items'])).toBe('min_items')
})
