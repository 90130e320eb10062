import { describe, expect, it } from 'vitest'
import {
  beginsWithDigit,
  checkNewSlug,
  checkSlug,
  noTaskName,
  parseTaskName,
  parseTaskReference,
  taskFolderName,
  taskNumberOf,
  taskWord,
  usualSeparator,
} from '../../../src/project/task-folder.ts'
import { thrownBy } from '../builders.ts'

const UNSAFE_NAMES = [
  ['empty', ''],
  ['a path', 'a/b'],
  ['a path of Windows', 'a\\b'],
  ['an absolute path', '/etc'],
  ['the folder above', '..'],
  ['a way up', 'a/../../b'],
  ['dots inside', 'a..b'],
  ['an option', '-rf'],
  ['a long option', '--all'],
  ['hidden', '.git'],
  ['a leading space', ' a'],
  ['a trailing space', 'a '],
  ['a trailing dot', 'a.'],
  ['a trailing newline', 'a\n'],
  ['a drive', 'C:x'],
  ['a wildcard', 'a*'],
  ['a question mark', 'a?'],
  ['a quote', 'a"b'],
  ['a redirection', 'a>b'],
  ['the other redirection', 'a<b'],
  ['a pipe', 'a|b'],
  ['NUL', 'a\u0000b'],
  ['a terminal escape', 'a\u001b[2Jb'],
  ['DEL', 'a\u007fb'],
  ['C1', 'a\u009bb'],
  ['too long', 'a'.repeat(121)],
] as const

describe('the forms of <task>', () => {
  it.each([
    ['259', 259],
    ['007', 7],
    ['0', 0],
    ['999999', 999_999],
    ['0000000000259', 259],
  ])('%s is a number', (text, number) => {
    expect(parseTaskReference(text)).toEqual({ kind: 'number', number })
  })

  it.each(['1000000', '9'.repeat(400)])('%s is too large', (text) => {
    expect(thrownBy(() => parseTaskReference(text))).toMatchObject({ code: 'task-invalid', args: { task: text } })
  })

  it.each(['259_prove_completeness', 'OC_12', 'x', '12a', 'größe', 'a b', "it's", 'a'.repeat(120), '٣'])(
    '%s is a name',
    (name) => {
      expect(parseTaskReference(name)).toEqual({ kind: 'name', name })
    },
  )

  it('. is specs/ itself', () => {
    expect(parseTaskReference('.')).toEqual({ kind: 'specs' })
  })

  it.each(UNSAFE_NAMES)('%s is refused', (_, text) => {
    expect(thrownBy(() => parseTaskReference(text))).toMatchObject({ code: 'task-invalid', args: { task: text } })
  })
})

describe('a slug', () => {
  it.each(['prove_completeness', 'a-b', 'v1.2', 'größe', 'a b', 'a'.repeat(120)])(
    '%s is accepted unchanged',
    (slug) => {
      expect(checkSlug(slug)).toBe(slug)
    },
  )

  it.each([...UNSAFE_NAMES, ['specs/ itself', '.']] as const)('%s is refused', (_, slug) => {
    expect(thrownBy(() => checkSlug(slug))).toMatchObject({ code: 'slug-invalid', args: { slug } })
  })
})

describe('a name or a number that is only too long or too large', () => {
  const thrown = (action: () => unknown): unknown => (thrownBy(action) as { args: unknown }).args

  it('names the maximum length, unless something else is wrong too', () => {
    expect(thrown(() => checkSlug('a'.repeat(300)))).toMatchObject({ longest: 120 })
    expect(thrown(() => parseTaskReference('a'.repeat(121)))).toMatchObject({ longest: 120 })
    for (const other of ['', 'a/b', '/'.repeat(300)]) {
      expect(thrown(() => checkSlug(other))).not.toHaveProperty('longest')
      expect(thrown(() => parseTaskReference(other))).not.toHaveProperty('longest')
    }
  })

  it.each([
    ['1000000_x', { task: '1000000', largest: 999_999 }],
    ['1000000-x', { task: '1000000', largest: 999_999 }],
    ['999999_x', { task: '999999_x' }],
    ['x_1000000_y', { task: 'x_1000000_y' }],
    ['no_number', { task: 'no_number' }],
  ])('names the maximum of the number in a new folder %s, if only that is wrong', (name, expected) => {
    expect(noTaskName(name)).toMatchObject({ code: 'task-invalid' })
    expect(noTaskName(name).args).toEqual(expected)
  })

  it('names the maximum of a number', () => {
    expect(thrown(() => parseTaskReference('1000000'))).toMatchObject({ largest: 999_999 })
  })
})

describe('the name of a task folder', () => {
  it.each([
    [7, '007_x'],
    [0, '000_x'],
    [259, '259_x'],
    [1234, '1234_x'],
  ])('pads %i to three digits', (number, expected) => {
    expect(taskFolderName({ number, separator: '_', slug: 'x' })).toBe(expected)
  })

  it('may have a dash after the number, as spec-kit writes it', () => {
    expect(taskFolderName({ number: 1, separator: '-', slug: 'photo-albums' })).toBe('001-photo-albums')
  })

  it.each([
    ['007_x', 7],
    ['259_prove_completeness', 259],
    ['1234_x', 1234],
    ['12_', 12],
    ['259', undefined],
    ['001-photo-albums', 1],
    ['259-x', 259],
    ['259x', undefined],
    ['259.x', undefined],
    ['1234567-x', undefined],
    ['2026-11-01-x', undefined],
    ['2026-11-01', undefined],
    ['2026-11-012-x', 2026],
    ['2026-99-01-x', 2026],
    ['2026-roadmap', 2026],
    ['x_259', undefined],
    ['OC_12', undefined],
    ['1234567_x', undefined],
    ['', undefined],
  ])('the number of %j is %s', (name, expected) => {
    expect(taskNumberOf(name)).toBe(expected)
  })

  it.each([
    ['001-photo-albums', { number: 1, separator: '-', slug: 'photo-albums' }],
    ['7_a-b', { number: 7, separator: '_', slug: 'a-b' }],
    ['7-a_b', { number: 7, separator: '-', slug: 'a_b' }],
    ['7_', { number: 7, separator: '_', slug: '' }],
    ['x_7', undefined],
  ])('%j has these parts', (name, expected) => {
    expect(parseTaskName(name)).toEqual(expected)
  })

  it.each([
    ['_', []],
    ['_', ['archive', '.']],
    ['-', ['001-a']],
    ['-', ['001-a', '002-b', '003_c']],
    ['_', ['001-a', '002_b']],
    ['_', ['001_a', '2026-11-01-x', '2026-11-02-y']],
    ['_', ['001-a', '002_b', '003_c', 'x-y', '']],
  ] as const)('%j is the separator among %j', (expected, names) => {
    expect(usualSeparator(names)).toBe(expected)
  })

  it.each([
    ['012_x', true],
    ['9', true],
    ['archive', false],
    ['_1', false],
    ['', false],
    ['٣', false],
  ])('%j begins with a digit: %s', (name, expected) => {
    expect(beginsWithDigit(name)).toBe(expected)
  })
})

describe('the word for a task folder in a command', () => {
  it.each([
    ['its name', 'specs/259_x', '259_x'],
    ['its path below specs/ if it lies deeper', 'specs/archive/012_x', 'archive/012_x'],
    ['`.` for specs/ itself', 'specs', '.'],
    ['its number if no command takes its name', 'specs/7_a\nb', '7'],
    ['its name if it has no number either', 'specs/a\nb', 'a\nb'],
  ])('is %s', (_, relative, expected) => {
    const task = relative === 'specs' ? '.' : relative.slice(relative.lastIndexOf('/') + 1)
    expect(taskWord({ root: '/p', path: `/p/${relative}`, task, relative })).toBe(expected)
  })
})

describe('the slug of a new folder', () => {
  it.each(['plan', 'v1.2', '_x', 'a-b', 'größe', '日本語', 'e\u0301'])('%s is accepted', (slug) => {
    expect(() => checkNewSlug(slug)).not.toThrow()
  })

  it.each([
    'a b',
    "it's",
    'a"b',
    '`',
    '$x',
    'a;b',
    'a~',
    '🚀',
    'a+b',
    'a@b',
    '',
    '-x',
    '.x',
    'x.',
    'a..b',
    'x'.repeat(121),
  ])('%j is refused', (slug) => {
    expect(thrownBy(() => checkNewSlug(slug))).toMatchObject({ code: 'slug-invalid', args: { slug } })
  })
})
