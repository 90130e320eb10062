import { describe, expect, it } from 'vitest'
import { commandParts, matchesGlob, rulesFor } from '../../../src/setup/reactive/reactive-rule.ts'

const COMMIT = { tool: 'bash', command: 'git commit*', prompt: 'Look.' }

describe('rulesFor', () => {
  const matches = (command: unknown): boolean => rulesFor([COMMIT], 'bash', { command }).length > 0

  it.each([
    ...['git commit', 'git commit -m "one"', '  git commit -m one', 'git add . && git commit -m one'],
    'cd x; git commit',
    ...['true || git commit', 'echo y | git commit -F -', 'git add .\ngit commit -m one', 'git commit -m "a\nb; c"'],
  ])('finds the rule of %j', (command) => expect(matches(command)).toBe(true))

  it.each([
    ...['git status', 'echo git commit', 'echo "x; git commit"', "echo 'x && git commit'", 'echo x \\; git commit'],
    ...['echo "a \\" ; git commit"', 'echo "a\\ ; git commit"', 'echo a \\\ngit commit', 'legit commit', ''],
  ])('does not find the rule of %j', (command) => expect(matches(command)).toBe(false))

  it.each([5, ['git commit'], { command: 'git commit' }, null, undefined, true])(
    'does not match a command that is not a string: %j',
    (command) => {
      expect(matches(command)).toBe(false)
      expect(rulesFor([{ ...COMMIT, command: '*' }], 'bash', { command })).toEqual([])
    },
  )

  it('finds a rule that is about several parts together', () => {
    const both = { ...COMMIT, command: 'git add*git commit*' }
    expect(rulesFor([both], 'bash', { command: ' git add . && git commit -m one' })).toEqual([both])
    expect(rulesFor([both], 'bash', { command: 'cd x && git add . && git commit -m one' })).toEqual([])
  })

  it.each([null, undefined, 'git commit', 7])('reads arguments that are not an object: %j', (args) => {
    expect(rulesFor([COMMIT], 'bash', args)).toEqual([])
    expect(rulesFor([{ tool: 'bash', prompt: 'p' }], 'bash', args)).toHaveLength(1)
  })

  it('finds rules by their tool only, and keeps their order', () => {
    const any = { tool: 'bash', prompt: 'any' }
    const other = { tool: 'read', prompt: 'other' }
    expect(rulesFor([any, other, COMMIT], 'bash', { command: 'git commit' })).toEqual([any, COMMIT])
    expect(rulesFor([any, other, COMMIT], 'read', { filePath: 'x' })).toEqual([other])
    expect(rulesFor([any, other, COMMIT], 'write', {})).toEqual([])
  })
})

describe('matchesGlob', () => {
  it.each([
    ['abc', 'a?c', true],
    ['abc', 'a?', false],
    ['', '*', true],
    ['a', '', false],
    ['abc', '*abc', true],
    ['abc', 'a*bc', true],
    ['abcabd', '*abc', false],
    ['abc', 'a.c', false],
    ['a\nb', 'a*b', true],
    ['ab', 'ab**', true],
    ['ab', 'ab?', false],
  ])('%j by %j: %s', (text, glob, matches) => expect(matchesGlob(text, glob)).toBe(matches))

  it('answers soon for many stars', () => {
    const started = performance.now()
    expect(matchesGlob('a'.repeat(5_000), `${'*a'.repeat(30)}*b`)).toBe(false)
    expect(performance.now() - started).toBeLessThan(500)
  })
})

describe('commandParts', () => {
  it('splits at operators outside quotes, and reads unfinished quotes', () => {
    expect(commandParts('a && b || c; d | e\nf')).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
    expect(commandParts('a "b; c')).toEqual(['a "b; c'])
    expect(commandParts("a 'b | c")).toEqual(["a 'b | c"])
    expect(commandParts('a \\')).toEqual(['a \\'])
    expect(commandParts(' ; ;')).toEqual([])
  })
})
