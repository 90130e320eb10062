/** The rules of `specs/done.yaml`: what is accepted, and what a person is told of the rest. */

import { describe, expect, it } from 'vitest'
import { readRules, ruleName, rulesFile, ruleText } from '../../../src/done/done-rules.ts'
import { parseDoneFile } from '../../../src/done/done-yaml.ts'
import { readSchema, schemaFaults } from '../../support/json-schemas.ts'

const RULE = { when: 'src/**', check: 'npm test' }

describe('the rules of a definition of done', () => {
  it('have patterns, checks, a time and a name', () => {
    const rule = { name: 'docs', when: ['docs/**'], unless: 'docs/drafts/**', check: ['npm run a', 'b'], timeout: '5m' }
    expect(readRules({ done: [RULE, rule] })).toEqual({
      rules: [
        { name: undefined, when: ['src/**'], unless: [], checks: ['npm test'], timeoutMs: undefined },
        {
          name: 'docs',
          when: ['docs/**'],
          unless: ['docs/drafts/**'],
          checks: ['npm run a', 'b'],
          timeoutMs: 300_000,
        },
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

  it.each<[string, unknown, string | undefined]>([
    ['90s', 90_000, undefined],
    ['1h', 3_600_000, undefined],
    [30 as never, 30_000, undefined],
    ['25h', undefined, 'must be a time such as 90s, 5m or 1h, at most 24h'],
    ['0', undefined, 'must be a time such as 90s, 5m or 1h, at most 24h'],
    ['soon', undefined, 'must be a time such as 90s, 5m or 1h, at most 24h'],
  ])('with the timeout %s', (timeout, ms, fault) => {
    const read = readRules({ done: [{ ...RULE, timeout }] })
    if ('rules' in read) expect(read.rules[0]?.timeoutMs).toBe(ms)
    else expect(read.faults).toEqual([{ path: ['done', 0, 'timeout'], detail: fault }])
  })

  const TEXTS = 'must be a string or a list of strings, each on one line and not empty'
  const LONG = 'must be at most 2000 characters long'
  const PATTERN = 'it must be relative to the root, with "/", without "..", and without "!" (use unless)'
  const OUTSIDE = `invalid pattern "../x": ${PATTERN}`
  it.each<[string, unknown, (string | number)[], string]>([
    ['no object', [], [], 'must be an object'],
    ['no rules', {}, ['done'], 'must be a list of rules'],
    ['an unknown field', { done: [], dnoe: [] }, ['dnoe'], 'unknown field "dnoe" (did you mean "done"?)'],
    [
      'an unknown field of a rule',
      { done: [{ ...RULE, checks: 'x' }] },
      ['done', 0, 'checks'],
      'unknown field "checks" (did you mean "check"?)',
    ],
    ['a rule that is no object', { done: ['x'] }, ['done', 0], 'must be an object'],
    ['no patterns', { done: [{ check: 'x' }] }, ['done', 0, 'when'], `is missing, and ${TEXTS}`],
    ['no checks', { done: [{ when: 'x' }] }, ['done', 0, 'check'], `is missing, and ${TEXTS}`],
    ['an empty list', { done: [{ ...RULE, check: [] }] }, ['done', 0, 'check'], TEXTS],
    ['an empty command', { done: [{ ...RULE, check: ' ' }] }, ['done', 0, 'check'], TEXTS],
    ['a number', { done: [{ ...RULE, check: 3 }] }, ['done', 0, 'check'], TEXTS],
    ['a line break', { done: [{ ...RULE, check: 'a\nb' }] }, ['done', 0, 'check'], TEXTS],
    [
      'a long command',
      { done: [{ ...RULE, check: 'x'.repeat(2001) }] },
      ['done', 0, 'check'],
      'must be at most 2000 characters long',
    ],
    ['a way out', { done: [{ ...RULE, when: '../x' }] }, ['done', 0, 'when'], `invalid pattern "../x": ${PATTERN}`],
    ['an absolute path', { done: [{ ...RULE, when: '/x' }] }, ['done', 0, 'when'], `invalid pattern "/x": ${PATTERN}`],
    ['a negation', { done: [{ ...RULE, when: '!x' }] }, ['done', 0, 'when'], `invalid pattern "!x": ${PATTERN}`],
    [
      'a name that is a list',
      { done: [{ ...RULE, name: ['x'] }] },
      ['done', 0, 'name'],
      'must be a string of at most 80 characters, on one line',
    ],
    ['too many rules', { done: Array(21).fill(RULE) }, ['done'], 'at most 20 rules are allowed'],
    [
      'too many commands',
      { done: Array(3).fill({ ...RULE, check: Array(7).fill('x') }) },
      ['done'],
      'at most 20 commands are allowed in all rules together',
    ],
    [
      'a pattern that would take for ever',
      { done: [{ ...RULE, when: '*a*a*a*a*a*' }] },
      ['done'],
      'the patterns must have at most 300 alternatives ({a,b}) in all, no ranges ({1..9}), and at most 3 stars that multiply: a "**", and a "*" after the first of its name (two of these)',
    ],
  ])('are refused with %s', (_what, value, path, detail) => {
    const read = readRules(value)
    expect('faults' in read ? read.faults : []).toContainEqual({ path, detail })
  })

  const MOST = { ...RULE, name: 'x'.repeat(80), when: 'x'.repeat(200), check: 'x'.repeat(2000) }
  it.each<[string, unknown[]]>([
    ['twenty rules', Array(20).fill(RULE)],
    ['twenty commands', [{ ...RULE, check: Array(20).fill('x') }]],
    ['three hundred patterns of a rule', [{ ...RULE, when: Array.from({ length: 300 }, (_, at) => `a${at}`) }]],
    ['the longest texts', [MOST]],
  ])('are accepted with %s', (_what, done) => {
    expect(readRules({ done })).toHaveProperty('rules')
  })

  it.each<[string, object, [field: string, detail: string][]]>([
    ['one of several texts that is none', { ...RULE, check: ['x', 3] }, [['check', TEXTS]]],
    ['one of several texts that is too long', { ...RULE, check: ['x', 'x'.repeat(2001)] }, [['check', LONG]]],
    ['a mistyped field, once', { when: 'x', chekc: 'y' }, [['chekc', 'unknown field "chekc" (did you mean "check"?)']]],
    [
      'a mistyped field, and another that is missing',
      { chekc: 'y' },
      [
        ['chekc', 'unknown field "chekc" (did you mean "check"?)'],
        ['when', `is missing, and ${TEXTS}`],
      ],
    ],
    [
      'a mistyped field beside the right one',
      { ...RULE, check: 3, chekc: 'y' },
      [
        ['chekc', 'unknown field "chekc" (did you mean "check"?)'],
        ['check', TEXTS],
      ],
    ],
    ['a pattern out of the project, among others', { ...RULE, when: ['x', '../x', '*a*a*a*a*'] }, [['when', OUTSIDE]]],
    ['301 patterns', { ...RULE, when: Array(301).fill('x') }, [['when', TEXTS]]],
  ])('are refused with %s', (_what, rule, faults) => {
    const read = readRules({ done: [rule] })
    const found = 'faults' in read ? read.faults : []
    expect(found).toEqual(faults.map(([field, detail]) => ({ path: ['done', 0, field], detail })))
  })

  it('are kept without the fields that have no value', () => {
    const read = readRules({ done: [RULE] })
    expect('rules' in read && rulesFile(read.rules)).toStrictEqual({
      done: [{ when: ['src/**'], check: ['npm test'] }],
    })
  })

  it('are refused with at most a hundred faults', () => {
    const read = readRules(Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`x${index}`, 1])))
    expect('faults' in read && read.faults).toHaveLength(100)
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
    expect(
      places.some((place) => place.startsWith(expected)),
      places.join('\n'),
    ).toBe(true)
  })
})

describe('the schema for editors', () => {
  const isValid = (value: unknown): boolean => schemaFaults('done.schema.json', value).length === 0

  it.each<[string, object]>([
    ['one rule', RULE],
    ['lists', { ...RULE, when: ['a', '**/{b,c}.ts'], unless: ['d'], check: ['e', 'f'], name: 'all' }],
    ['a time in seconds', { ...RULE, timeout: 86_400 }],
    ['a time with a unit', { ...RULE, timeout: '90 s' }],
    ['an unknown field', { ...RULE, checks: 'x' }],
    ['no check', { when: 'x' }],
    ['an empty list', { ...RULE, when: [] }],
    ['a blank command', { ...RULE, check: ' ' }],
    ['a command of two lines', { ...RULE, check: 'a\nb' }],
    ['a long command', { ...RULE, check: 'x'.repeat(2001) }],
    ['a long pattern', { ...RULE, unless: 'x'.repeat(201) }],
    ['a long name', { ...RULE, name: 'x'.repeat(81) }],
    ['a number for a command', { ...RULE, check: 3 }],
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
