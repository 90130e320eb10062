import { describe, expect, it } from 'vitest'
import * as naming from '../../../src/project/task-folder.ts'
import { thrownBy } from '../builders.ts'

const UNSAFE_NAMES = [
  ['empty', ['']],
  ['with a path', ['a/b', 'a\\b', '/etc', '..', 'a/../../b', 'a..b', 'C:x']],
  ['that is an option', ['-rf', '--all']],
  ['that is hidden', ['.git']],
  ['with a blank or a dot at an end', [' a', 'a ', 'a\n', 'a.']],
  ['with a character that Windows refuses', ['a*', 'a?', 'a"b', 'a>b', 'a<b', 'a|b']],
  ['with a control character', ['a\u0000b', 'a\u001b[2Jb', 'a\u007fb', 'a\u009bb']],
  ['too long', ['a'.repeat(121)]],
] as const

describe('the forms of <task>', () => {
  it.each([
    ['259', 259],
    ['007', 7],
    ['0', 0],
    ['999999', 999_999],
    ['0000000000259', 259],
  ])('%s is a number', (text, number) => {
    expect(naming.parseTaskReference(text)).toBe(number)
  })

  it.each(['1000000', '9'.repeat(400)])('%s is too large', (task) => {
    const refused = { code: 'task-invalid', args: { task, largest: 999_999 } }
    expect(thrownBy(() => naming.parseTaskReference(task))).toMatchObject(refused)
  })

  it.each(['259_prove_completeness', 'OC_12', 'x', '12a', 'größe', 'a b', "it's", 'a'.repeat(120), '٣'])(
    '%s is a name',
    (name) => {
      expect(naming.parseTaskReference(name)).toBe(name)
    },
  )

  const COMPLETED = { 'specs/': '.', './specs/': '.', 'specs/7_x/': 'specs/7_x', './7_x/': '7_x', './../': '../' }
  const OTHERS = ['7', 'specs', 'archive/7_x', 'a./b', './', './/etc']
  it.each([...Object.entries(COMPLETED), ...OTHERS.map((one) => [one, one])])('%s means %s', (typed, task) => {
    expect(naming.withoutCompletion(String(typed))).toBe(task)
  })

  it('. is specs/ itself', () => {
    expect(naming.parseTaskReference('.')).toBe('.')
  })

  it.each(UNSAFE_NAMES)('a name %s is refused', (_, names) => {
    for (const task of names) {
      expect(thrownBy(() => naming.parseTaskReference(task))).toMatchObject({ code: 'task-invalid', args: { task } })
    }
  })
})

describe('a slug', () => {
  it.each(['prove_completeness', 'a-b', 'v1.2', 'größe', 'a b', 'a'.repeat(120)])('%s is accepted', (slug) => {
    expect(() => naming.checkSlug(slug)).not.toThrow()
  })

  it.each([...UNSAFE_NAMES, ['that is specs/ itself', ['.']]] as const)('%s is refused', (_, slugs) => {
    for (const slug of slugs) {
      expect(thrownBy(() => naming.checkSlug(slug))).toMatchObject({ code: 'slug-invalid', args: { slug } })
    }
  })
})

describe('a name or a number that is only too long or too large', () => {
  const thrown = (action: () => unknown): unknown => (thrownBy(action) as { args: unknown }).args

  it('names the maximum length, unless something else is wrong too', () => {
    expect(thrown(() => naming.checkSlug('a'.repeat(300)))).toMatchObject({ longest: 120 })
    expect(thrown(() => naming.parseTaskReference('a'.repeat(121)))).toMatchObject({ longest: 120 })
    for (const other of ['', 'a/b', '/'.repeat(300)]) {
      expect(thrown(() => naming.checkSlug(other))).not.toHaveProperty('longest')
      expect(thrown(() => naming.parseTaskReference(other))).not.toHaveProperty('longest')
    }
  })

  it.each([
    ['1000000_x', { task: '1000000', largest: 999_999 }],
    ['1000000-x', { task: '1000000', largest: 999_999 }],
    ['999999_x', { task: '999999_x' }],
    ['x_1000000_y', { task: 'x_1000000_y' }],
    ['no_number', { task: 'no_number' }],
  ])('names the maximum of the number in a new folder %s, if only that is wrong', (name, expected) => {
    expect(naming.noTaskName(name)).toMatchObject({ code: 'task-invalid' })
    expect(naming.noTaskName(name).args).toEqual(expected)
  })

  it('names the slug too if a new folder has a number', () => {
    expect(naming.noTaskName('7_a*', 'a*').args).toEqual({ task: '7_a*', slug: 'a*' })
    expect(naming.noTaskName('x', 'a*').args).toEqual({ task: 'x' })
  })
})

describe('the name of a task folder', () => {
  it.each([
    [0, '_', '000_x'],
    [259, '_', '259_x'],
    [1234, '_', '1234_x'],
    [1, '-', '001-x'],
  ] as const)('pads %i to three digits, with "%s" after it: spec-kit writes a dash', (number, separator, expected) => {
    expect(naming.taskFolderName({ number, separator, slug: 'x' })).toBe(expected)
  })

  it.each([
    ['2026-11-012-x', 2026],
    ['2026-99-01-x', 2026],
    ['2026-roadmap', 2026],
  ])('the number of %j is %s, because it is not a date', (name, expected) => {
    expect(naming.taskNumberOf(name)).toBe(expected)
  })

  it.each([...'259 259x 259.x 1234567-x 1234567_x 2026-11-01-x 2026-11-01 x_259 OC_12'.split(' '), ''])(
    '%j has no number',
    (name) => {
      expect(naming.taskNumberOf(name)).toBeUndefined()
    },
  )

  it.each([
    ['001-photo-albums', { number: 1, separator: '-', slug: 'photo-albums' }],
    ['123456_x', { number: 123_456, separator: '_', slug: 'x' }],
    ['7_a-b', { number: 7, separator: '_', slug: 'a-b' }],
    ['7-a_b', { number: 7, separator: '-', slug: 'a_b' }],
    ['7_', { number: 7, separator: '_', slug: '' }],
    ['x_7', undefined],
  ])('%j has these parts', (name, expected) => {
    expect(naming.parseTaskName(name)).toEqual(expected)
    expect(naming.taskNumberOf(name)).toBe(expected?.number)
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
    expect(naming.usualSeparator(names)).toBe(expected)
  })

  it('begins with a digit, or is not searched', () => {
    expect(['012_x', '9', 'archive', '_1', '', '٣'].filter(naming.beginsWithDigit)).toEqual(['012_x', '9'])
  })
})

describe('the word for a task folder in a command', () => {
  it.each([
    ['its name', 'specs/259_x', '259_x'],
    ['its path below specs/ if it lies deeper', 'specs/archive/012_x', 'archive/012_x'],
    ['`.` for specs/ itself', 'specs', '.'],
    ['its number if no command takes its name', 'specs/7_a\nb', '7'],
    ['its name if it has no number either', 'specs/a\nb', 'a\nb'],
    ['its path if its name is like an option', 'specs/-foo', 'specs/-foo'],
  ])('is %s', (_, relative, expected) => {
    const task = relative === 'specs' ? '.' : relative.slice(relative.lastIndexOf('/') + 1)
    const folder = { root: '/p', path: `/p/${relative}`, task, relative }
    expect(naming.taskWord(folder)).toBe(expected)
    expect(naming.runCommandLine(folder, 'stop', undefined)).toContain('postflight workflow stop ')
  })
})

it.each([
  ['', '%'],
  ['259_login', '259_login'],
  ['archive/259_login', 'archive%259_login'],
])('the folder at "%s" below specs/ has the file name "%s", which is read back', (below, name) => {
  expect(naming.fileNameOf(below)).toBe(name)
  expect(naming.pathOfFileName(name)).toBe(below)
})

describe('the slug of a new folder', () => {
  it.each(['plan', 'v1.2', '_x', 'a-b', 'größe', '日本語', 'e\u0301'])('%s is accepted', (slug) => {
    expect(naming.isNewName(slug)).toBe(true)
  })

  it.each([
    ...['a b', "it's", 'a"b', '`', '$x', 'a;b', 'a~', '🚀', 'a+b', 'a@b'],
    ...['', '-x', '.x', 'x.', 'a..b', 'x'.repeat(121)],
  ])('%j is refused', (slug) => {
    expect(naming.isNewName(slug)).toBe(false)
  })
})
