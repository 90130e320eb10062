import { describe, expect, it } from 'vitest'
import { ALLOW, formatAnswer, type HookAnswer, terminalSequence } from '../../../src/stop/answer.ts'

const HOSTILE = 'quote " back\\slash \n tab\t \u001b[31mred\u0007 \u009b 😀 \ud83d \u2028'
const CLEAN = 'quote " back\\slash \n tab\t [31mred  😀  \u2028'

const GO_ON = { kind: 'block', reason: 'go on' } as const
const GO_ON_LINE = '{"decision":"block","reason":"go on"}\n'

type Location = NonNullable<Parameters<typeof formatAnswer>[2]>

const parsed = (answer: HookAnswer, location?: Location, shown = true, sequence?: string) =>
  JSON.parse(formatAnswer(answer, shown, location, sequence))

describe('a block at the call of a tool', () => {
  const refused = (answer: HookAnswer, shown = true) => parsed(answer, { refusesCall: true }, shown)
  const denied = (permissionDecisionReason: string) => ({
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason },
  })

  it('refuses it, with the whole reason', () => {
    expect(refused({ kind: 'block', reason: HOSTILE })).toEqual(denied(CLEAN))
    expect(refused({ kind: 'block', reason: 'the prompt', line: 'one line' })).toEqual(denied('the prompt'))
    expect(refused({ kind: 'block', reason: 'x'.repeat(9000) })).toEqual(denied(`${'x'.repeat(3999)}…`))
  })

  it('tells the user what else happened', () => {
    const ended = { ...GO_ON, notice: 'ended' }
    expect(refused(ended)).toEqual({ ...denied('go on'), systemMessage: 'ended' })
    expect(refused(ended, false)).toEqual(denied('go on'))
  })

  it('does not change an allow', () => {
    expect(refused({ kind: 'allow', notice: 'capped' })).toEqual({ systemMessage: 'capped' })
  })
})

describe('a block', () => {
  it('has exactly decision and reason, on one line: Codex voids an answer with any further key', () => {
    for (const shown of [true, false]) expect(formatAnswer(GO_ON, shown)).toBe(GO_ON_LINE)
  })

  it('is valid JSON with a quote in the reason, which broke the original shell hook', () => {
    const answer = { kind: 'block', reason: HOSTILE, line: 'one line' } as const
    expect(parsed(answer)).toEqual({ decision: 'block', reason: CLEAN })
    // Strict JSON readers refuse the escape of half a surrogate pair.
    expect(formatAnswer(answer, true)).not.toMatch(/\\u/)
  })
})

describe('a block on a host that takes its context', () => {
  const beside = (answer: HookAnswer) => parsed(answer, { besideBlock: true })

  it('has the reason as context, beside one line and a notice', () => {
    expect(beside({ kind: 'block', reason: HOSTILE, line: 'one \u0007line', notice: 'ended' })).toEqual({
      decision: 'block',
      reason: 'one line',
      hookSpecificOutput: { hookEventName: 'Stop', additionalContext: CLEAN },
      systemMessage: 'ended',
    })
  })

  it('without such a line has exactly decision and reason', () => {
    expect(beside(GO_ON)).toEqual({ decision: 'block', reason: 'go on' })
  })
})

it.each([
  [{}, `${'x'.repeat(3999)}…`],
  [{ limit: 9000 }, 'x'.repeat(9000)],
  [{ limit: 8999 }, `${'x'.repeat(8998)}…`],
])('a context has a limit of its own (%j), or that of a reason', (limit, additionalContext) => {
  const answer = { kind: 'context', event: 'E', context: 'x'.repeat(9000), ...limit } as const
  expect(parsed(answer)).toEqual({ hookSpecificOutput: { hookEventName: 'E', additionalContext } })
})

it.each([
  [ALLOW, {}],
  [GO_ON, { decision: 'block', reason: 'go on' }],
])('a sequence for the terminal stands beside everything else: %j', (answer, rest) => {
  const sequence = '\u001b]9;x\u0007'
  expect(parsed(answer, { besideBlock: true }, true, sequence)).toEqual({ ...rest, terminalSequence: sequence })
})

describe('an allow', () => {
  it.each<[HookAnswer, boolean, object]>([
    [ALLOW, true, {}],
    [ALLOW, false, {}],
    [{ kind: 'allow', notice: 'capped' }, false, {}],
    [{ kind: 'allow', notice: HOSTILE }, true, { systemMessage: CLEAN }],
    [{ kind: 'allow', notice: `\u0000${'x'.repeat(4000)}y` }, true, { systemMessage: `${'x'.repeat(3999)}…` }],
  ])('%.40j has a notice only if the host shows notices (%s)', (answer, shown, expected) => {
    expect(parsed(answer, {}, shown)).toEqual(expected)
  })
})

describe('the text for a session that starts', () => {
  const answer: HookAnswer = { kind: 'context', event: 'SessionStart', context: HOSTILE }

  it.each([true, false])('is additionalContext of its event (notices shown: %s)', (shown) => {
    const hookSpecificOutput = { hookEventName: 'SessionStart', additionalContext: CLEAN }
    expect(parsed(answer, {}, shown)).toEqual({ hookSpecificOutput })
  })

  it('stands at the top for a host that reads it only there, and nothing else does', () => {
    expect(parsed(answer, { atTop: true })).toEqual({ additionalContext: CLEAN })
    expect(formatAnswer(GO_ON, false, { atTop: true })).toBe(GO_ON_LINE)
  })
})

describe('what happened while nobody looked, at the start of a session', () => {
  const inContext = (additionalContext: string) => ({ hookSpecificOutput: { hookEventName: 'E', additionalContext } })

  it.each([
    ['is for the user, beside the context', 'text', true, { ...inContext('text'), systemMessage: 'ended' }],
    ['is for the user without a context', undefined, true, { systemMessage: 'ended' }],
    ['is for the agent if the host shows no notices', 'text', false, inContext('text\n\nended')],
    ['is for the agent without a context', undefined, false, inContext('ended')],
  ])('%s', (_, context, shown, expected) => {
    expect(parsed({ kind: 'context', event: 'E', context, notice: 'ended' }, {}, shown)).toEqual(expected)
  })
})

describe("the sequence of a terminal's notification", () => {
  const TEXT = 'postflight: task 259 stopped'

  it.each([
    ['osc9', `\u001b]9;${TEXT}\u0007`],
    ['osc99', `\u001b]99;;${TEXT}\u001b\\`],
    ['osc777', `\u001b]777;notify;postflight;${TEXT}\u0007`],
    ['bell', '\u0007'],
    ['1', `\u001b]9;${TEXT}\u0007`],
    ['toString', `\u001b]9;${TEXT}\u0007`],
    [undefined, undefined],
    ['', undefined],
    ['0', undefined],
  ])('in the form %s is %j', (form, expected) => {
    expect(terminalSequence(form, ['task 259 stopped'])).toBe(expected)
  })

  it('is not made without an alert', () => {
    expect(terminalSequence('osc9', [])).toBe(undefined)
  })

  it('holds all alerts, and nothing that could end it or begin another one', () => {
    const sequence = terminalSequence('osc777', ['a\u0007b\u001b]52;c;x', 'c;\nd\u009c'])
    expect(sequence).toBe('\u001b]777;notify;postflight;postflight: ab]52 c x · c d\u0007')
  })

  it('has a text of at most 200 characters', () => {
    expect(terminalSequence('osc9', ['x'.repeat(188)])).toBe(`\u001b]9;postflight: ${'x'.repeat(188)}\u0007`)
    expect(terminalSequence('osc9', ['x'.repeat(5000)])).toBe(`\u001b]9;postflight: ${'x'.repeat(187)}…\u0007`)
  })
})
