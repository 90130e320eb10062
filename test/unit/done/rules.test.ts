/** The rules of `specs/done.yaml`: what is accepted, and what a person is told of the rest. */

import { describe, expect, it } from 'vitest'
import { readRules, ruleName, rulesFile, ruleText } from '../../../src/done/done-rules.ts'
import { parseDoneFile } from '../../../src/done/done-yaml.ts'
import { readSchema, schemaFaults } from '../../support/json-schemas.ts'

const RULE = { when: 'src/**', check: 'npm test' }
const SEVEN = Array(7).fill('x')

/** The faults of rules, as their paths and what is said of them. */
function faultsOf(value: unknown): [path: string, detail: string][] {
  const read = readRules(value)
  return 'faults' in read ? read.faults.map(({ path, detail }) => [path.join('.'), detail]) : []
}

const isValid = (value: unknown): boolean => schemaFaults('done.schema.json', value).length === 0

const pairs = (faults: Record<string, string>): [string, string][] => Object.entries(faults)

describe('the rules of a definition of done', () => {
  it('have patterns, checks, a time and a name', () => {
    const rule = { name: 'docs', when: ['docs/**'], unless: 'docs/drafts/**', check: ['npm run a', 'b'], timeout: '5m' }
    const docs = { name: 'docs', when: ['docs/**'], unless: ['docs/drafts/**'], timeoutMs: 300_000 }
    expect(readRules({ done: [RULE, rule] })).toEqual({
      rules: [
        { name: undefined, when: ['src/**'], unless: [], checks: ['npm test'], timeoutMs: undefined },
        { ...docs, checks: ['npm run a', 'b'] },
      ],
    })
  })

  it('are read back as they were kept', () => {
    const read = readRules({ done: [RULE, { ...RULE, name: 'x', unless: ['a', 'b'], timeout: '1h' }] })
    if (!('rules' in read)) throw new Error('not read')
    expect(readRules(JSON.parse(JSON.stringify(rulesFile(read.rules))))).toEqual(read)
  })

  it('have names for people, and a text that tells them apart', () => {
    const rule = { name: undefined, when: ['a', 'b'], unless: [], checks: ['c'], timeoutMs: undefined }
    expect([ruleName(rule), ruleName({ ...rule, name: 'all' })]).toEqual(['a, b', 'all'])
    expect(ruleText(rule)).toBe(ruleText({ ...rule, name: 'all', timeoutMs: 1000 }))
    expect(ruleText(rule)).not.toBe(ruleText({ ...rule, checks: ['d'] }))
  })

  it.each([
    ['90s', 90_000],
    ['1h', 3_600_000],
    [30, 30_000],
  ])('may have the timeout %s', (timeout, timeoutMs) => {
    expect(readRules({ done: [{ ...RULE, timeout }] })).toMatchObject({ rules: [{ timeoutMs }] })
  })

  const TEXTS = 'must be a string or a list of strings, each on one line and not empty'
  const MISSING = `is missing, and ${TEXTS}`
  const LONG = 'must be at most 2000 characters long'
  const NAME = 'must be a string of 1 to 80 characters, on one line'
  const badPattern = (pattern: string): string =>
    `invalid pattern "${pattern}": it must be relative to the root, with "/", without "..", and without "!" (use unless)`
  const COMMANDS = 'at most 20 commands are allowed in all rules together'
  const WIDE =
    'the patterns must have at most 300 alternatives ({a,b}) in all, no ranges ({1..9}), and in each pattern at most 3 of these: "**", and any "*" after the first in a name (at most two of the latter)'
  const TIME = 'must be a time such as 90s, 5m or 1h, at most 24h'
  const CHEKC = 'unknown field "chekc" (did you mean "check"?)'
  it.each<[string, unknown, string, string]>([
    ['no object', [], '', 'must be an object'],
    ['no rules', {}, 'done', 'must be a list of rules'],
    ['an unknown field', { done: [], dnoe: [] }, 'dnoe', 'unknown field "dnoe" (did you mean "done"?)'],
    ['a rule that is no object', { done: ['x'] }, 'done.0', 'must be an object'],
    ['too many rules', { done: Array(21).fill(RULE) }, 'done', 'at most 20 rules are allowed'],
    ['too many commands', { done: Array(3).fill({ ...RULE, check: SEVEN }) }, 'done', COMMANDS],
    ['301 commands', { done: [{ ...RULE, check: Array(301).fill('x') }] }, 'done', COMMANDS],
    ['endless patterns', { done: [{ ...RULE, when: '*a*a*a*a*a*' }] }, 'done', WIDE],
  ])('are refused with %s', (_what, value, path, detail) => {
    expect(faultsOf(value)).toContainEqual([path, detail])
  })

  it.each<[string, object, [field: string, detail: string][]]>([
    ['an unknown field', { ...RULE, checks: 'x' }, [['checks', 'unknown field "checks" (did you mean "check"?)']]],
    ['no patterns', { check: 'x' }, [['when', MISSING]]],
    ['no checks', { when: 'x' }, [['check', MISSING]]],
    ['an empty list', { ...RULE, check: [] }, [['check', TEXTS]]],
    ['an empty command', { ...RULE, check: ' ' }, [['check', TEXTS]]],
    ['a number', { ...RULE, check: 3 }, [['check', TEXTS]]],
    ['a line break', { ...RULE, check: 'a\nb' }, [['check', TEXTS]]],
    ['a way out', { ...RULE, when: '../x' }, [['when', badPattern('../x')]]],
    ['an absolute path', { ...RULE, when: '/x' }, [['when', badPattern('/x')]]],
    ['braces without end', { ...RULE, when: '{a}'.repeat(99_999) }, [['when', 'must be at most 200 characters long']]],
    ['a negation', { ...RULE, when: '!x' }, [['when', badPattern('!x')]]],
    ['a name that is a list', { ...RULE, name: ['x'] }, [['name', NAME]]],
    ['one of several texts that is none', { ...RULE, check: ['x', 3] }, [['check', TEXTS]]],
    ['one of several texts that is too long', { ...RULE, check: ['x', 'x'.repeat(2001)] }, [['check', LONG]]],
    ['a mistyped field, once', { when: 'x', chekc: 'y' }, [['chekc', CHEKC]]],
    ['a mistyped field, and another that is missing', { chekc: 'y' }, pairs({ chekc: CHEKC, when: MISSING })],
    ['a mistyped field beside the right one', { ...RULE, check: 3, chekc: 'y' }, pairs({ chekc: CHEKC, check: TEXTS })],
    ['one pattern of several', { ...RULE, when: ['x', '../x', '*a*a*a*a*'] }, [['when', badPattern('../x')]]],
    ['301 patterns', { ...RULE, when: Array(301).fill('x') }, [['when', 'at most 300 are allowed in a list']]],
  ])('of which one has %s are refused', (_what, rule, faults) => {
    expect(faultsOf({ done: [rule] })).toEqual(faults.map(([field, detail]) => [`done.0.${field}`, detail]))
    // The schema for editors knows every rule but that of patterns.
    const isOfPattern = faults.every(([, detail]) => detail.startsWith('invalid pattern'))
    expect(isValid({ done: [rule] })).toBe(isOfPattern)
  })

  it.each(['25h', '0', 'soon'])('of which one has the timeout %s are refused', (timeout) => {
    expect(faultsOf({ done: [{ ...RULE, timeout }] })).toEqual([['done.0.timeout', TIME]])
  })

  const MOST = { ...RULE, name: 'x'.repeat(80), when: 'x'.repeat(200), check: 'x'.repeat(2000) }
  it.each<[string, unknown[]]>([
    ['twenty rules', Array(20).fill(RULE)],
    ['twenty commands', [{ ...RULE, check: Array(20).fill('x') }]],
    ['three hundred patterns of a rule', [{ ...RULE, when: Array.from({ length: 300 }, (_, at) => `a${at}`) }]],
    ['the longest texts', [MOST]],
  ])('are accepted with %s', (_what, done) => {
    expect(readRules({ done })).toHaveProperty('rules')
    expect(isValid({ done })).toBe(true)
  })

  it('are kept without the fields that have no value', () => {
    const read = readRules({ done: [RULE] })
    const kept = { done: [{ when: ['src/**'], check: ['npm test'] }] }
    expect('rules' in read && rulesFile(read.rules)).toStrictEqual(kept)
  })

  it('are refused with at most a hundred faults', () => {
    expect(faultsOf(Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`x${at}`, 1])))).toHaveLength(100)
  })
})

describe('the file of a definition of done', () => {
  const TEXT = 'done:\n  - when: ["src/**", "package.json"]\n    check: npm test\n'

  it('is YAML', () => {
    const parsed = parseDoneFile(TEXT)
    expect('rules' in parsed && parsed.rules.map(({ when, checks }) => [...when, ...checks])).toEqual([
      ['src/**', 'package.json', 'npm test'],
    ])
  })

  it.each([
    ['done: [', '1:8 '],
    ['done:\n  - when: a\n    chekc: b\n', '3:5 done.0.chekc'],
    ['done:\n  - when: a\n    check: b\n  - when: a\n    when: b\n', '5:5 '],
    ['', '1:1 '],
    ['done: &a [*a]', '1:1 '],
    ['['.repeat(5000), '1:'],
  ])('names the place of a fault: %j', (text, expected) => {
    const parsed = parseDoneFile(text)
    const places =
      'faults' in parsed ? parsed.faults.map(({ line, column, where }) => `${line}:${column} ${where}`) : []
    expect(places).toContainEqual(expect.stringMatching(new RegExp(`^${expected}`)))
  })
})

describe('the schema for editors', () => {
  it.each<[string, object]>([
    ['one rule', RULE],
    ['lists', { ...RULE, when: ['a', '**/{b,c}.ts'], unless: ['d'], check: ['e', 'f'], name: 'all' }],
    ['a time in seconds', { ...RULE, timeout: 86_400 }],
    ['a time with a unit', { ...RULE, timeout: '90 s' }],
    ['a long pattern', { ...RULE, unless: 'x'.repeat(201) }],
    ['a long name', { ...RULE, name: 'x'.repeat(81) }],
    ['a time that is none', { ...RULE, timeout: 'soon' }],
    ['a time of two days', { ...RULE, timeout: 172_800 }],
  ])('agrees with what is accepted: %s', (_what, rule) => {
    expect(isValid({ done: [rule] })).toBe('rules' in readRules({ done: [rule] }))
  })

  it('agrees about the whole file', () => {
    for (const file of [{ done: [] }, {}, [], { done: 'x' }, { done: [], more: 1 }, { done: Array(21).fill(RULE) }]) {
      expect(isValid(file), JSON.stringify(file).slice(0, 40)).toBe('rules' in readRules(file))
    }
  })

  it('describes every field', () => {
    const { properties } = readSchema('done.schema.json') as { properties: { done: { items: { properties: object } } } }
    for (const field of Object.values(properties.done.items.properties)) expect(field).toHaveProperty('description')
  })
})
