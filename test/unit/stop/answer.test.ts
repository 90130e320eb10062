import { describe, expect, it } from 'vitest'
import { ALLOW, formatAnswer, type HookAnswer, REASON_LIMIT, terminalSequence } from '../../../src/stop/answer.ts'

const HOSTILE = 'quote " back\\slash \n tab\t \u001b[31mred\u0007 \u009b 😀 \ud83d \u2028'
const CLEAN = 'quote " back\\slash \n tab\t [31mred  😀  \u2028'

describe('a block at the call of a tool', () => {
  const refused = (answer: HookAnswer, shown = true) => JSON.parse(formatAnswer(answer, shown, { refusesCall: true }))
  const denied = (permissionDecisionReason: string) => ({
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason },
  })

  it('refuses it, with the whole reason', () => {
    expect(refused({ kind: 'block', reason: HOSTILE })).toEqual(denied(CLEAN))
    expect(refused({ kind: 'block', reason: 'the prompt', line: 'one line' })).toEqual(denied('the prompt'))
    expect(refused({ kind: 'block', reason: 'x'.repeat(9000) })).toEqual(denied(`${'x'.repeat(3999)}…`))
  })

  it('tells the user what else happened', () => {
    expect(refused({ kind: 'block', reason: 'go on', notice: 'ended' })).toEqual({
      ...denied('go on'),
      systemMessage: 'ended',
    })
    expect(refused({ kind: 'block', reason: 'go on', notice: 'ended' }, false)).toEqual(denied('go on'))
  })

  it('does not change an allow', () => {
    expect(refused(ALLOW)).toEqual({})
    expect(refused({ kind: 'allow', notice: 'capped' })).toEqual({ systemMessage: 'capped' })
  })
})

describe('a block', () => {
  it('has exactly decision and reason, on one line: Codex voids an answer with any further key', () => {
    for (const shown of [true, false]) {
      expect(formatAnswer({ kind: 'block', reason: 'go on' }, shown)).toBe('{"decision":"block","reason":"go on"}\n')
    }
  })

  it('is valid JSON with a quote in the reason, which broke the original shell hook', () => {
    const line = formatAnswer({ kind: 'block', reason: HOSTILE, line: 'one line' }, true)
    expect(line.indexOf('\n')).toBe(line.length - 1)
    expect(JSON.parse(line)).toEqual({ decision: 'block', reason: CLEAN })
    // Strict JSON readers refuse the escape of half a surrogate pair.
    expect(line).not.toMatch(/\\u/)
  })
})

describe('a block on a host that takes its context', () => {
  it('has the reason as context, beside one line', () => {
    const answer: HookAnswer = { kind: 'block', reason: HOSTILE, line: 'one \u0007line' }
    expect(JSON.parse(formatAnswer(answer, true, { besideBlock: true }))).toEqual({
      decision: 'block',
      reason: 'one line',
      hookSpecificOutput: { hookEventName: 'Stop', additionalContext: CLEAN },
    })
  })

  it('has a notice beside both', () => {
    const answer: HookAnswer = { kind: 'block', reason: 'go on', line: 'one line', notice: 'ended' }
    const { systemMessage, ...rest } = JSON.parse(formatAnswer(answer, true, { besideBlock: true }))
    expect(systemMessage).toBe('ended')
    expect(rest).toEqual(
      JSON.parse(formatAnswer({ kind: 'block', reason: 'go on', line: 'one line' }, true, { besideBlock: true })),
    )
  })

  it('without such a line has exactly decision and reason', () => {
    expect(formatAnswer({ kind: 'block', reason: 'go on' }, true, { besideBlock: true })).toBe(
      '{"decision":"block","reason":"go on"}\n',
    )
  })
})

describe('a context', () => {
  const length = (limit: object): number =>
    JSON.parse(formatAnswer({ kind: 'context', event: 'E', context: 'x'.repeat(9000), ...limit }, true))
      .hookSpecificOutput.additionalContext.length

  it('has a limit of its own, or that of a reason', () => {
    expect(length({})).toBe(REASON_LIMIT)
    expect(length({ limit: 9000 })).toBe(9000)
    expect(length({ limit: 8999 })).toBe(8999)
  })
})

it('a sequence for the terminal stands beside everything else', () => {
  const sequence = '\u001b]9;x\u0007'
  expect(JSON.parse(formatAnswer(ALLOW, true, { besideBlock: true }, sequence))).toEqual({ terminalSequence: sequence })
  expect(JSON.parse(formatAnswer({ kind: 'block', reason: 'go on' }, true, { besideBlock: true }, sequence))).toEqual({
    ...{ decision: 'block', reason: 'go on', terminalSequence: sequence },
  })
})

describe('an allow', () => {
  it.each([true, false])('is {} (notices shown: %s)', (shown) => {
    expect(formatAnswer(ALLOW, shown)).toBe('{}\n')
  })

  it('has only a notice, if the host shows notices', () => {
    expect(formatAnswer({ kind: 'allow', notice: 'capped' }, true)).toBe('{"systemMessage":"capped"}\n')
    expect(JSON.parse(formatAnswer({ kind: 'allow', notice: HOSTILE }, true))).toEqual({ systemMessage: CLEAN })
  })

  it('is {} with a notice if the host does not show notices', () => {
    expect(formatAnswer({ kind: 'allow', notice: 'capped' }, false)).toBe('{}\n')
  })
})

describe('the text for a session that starts', () => {
  it.each([true, false])('is additionalContext of its event (notices shown: %s)', (shown) => {
    const answer: HookAnswer = { kind: 'context', event: 'SessionStart', context: HOSTILE }
    expect(JSON.parse(formatAnswer(answer, shown))).toEqual({
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: CLEAN },
    })
  })
})

it('the context of a host that reads it only at the top stands there, and nothing else', () => {
  const answer: HookAnswer = { kind: 'context', event: 'SessionStart', context: HOSTILE }
  expect(JSON.parse(formatAnswer(answer, true, { atTop: true }))).toEqual({ additionalContext: CLEAN })
  expect(formatAnswer({ kind: 'block', reason: 'go on' }, false, { atTop: true })).toBe(
    '{"decision":"block","reason":"go on"}\n',
  )
})

describe('every text is cut at 4,000 characters', () => {
  const long = `\u0000${'x'.repeat(4000)}y`
  it.each<[HookAnswer, (value: never) => string]>([
    [{ kind: 'block', reason: long }, (value: { reason: string }) => value.reason],
    [{ kind: 'allow', notice: long }, (value: { systemMessage: string }) => value.systemMessage],
    [
      { kind: 'context', event: 'SessionStart', context: long },
      (value: { hookSpecificOutput: { additionalContext: string } }) => value.hookSpecificOutput.additionalContext,
    ],
  ])('$kind', (answer, textOf) => {
    expect(textOf(JSON.parse(formatAnswer(answer, true)) as never)).toBe(`${'x'.repeat(3999)}…`)
  })

  it('the limit is 4,000 characters', () => {
    expect(REASON_LIMIT).toBe(4000)
  })
})

const ALERT = 'task 259 stopped without its postflight'
const TEXT = `postflight: ${ALERT}`

describe("the sequence of a terminal's notification", () => {
  it.each([
    ['osc9', `\u001b]9;${TEXT}\u0007`],
    ['osc99', `\u001b]99;;${TEXT}\u001b\\`],
    ['osc777', `\u001b]777;notify;postflight;${TEXT}\u0007`],
    ['bell', '\u0007'],
    ['1', `\u001b]9;${TEXT}\u0007`],
    ['toString', `\u001b]9;${TEXT}\u0007`],
  ])('in the form %s', (form, expected) => {
    expect(terminalSequence(form, [ALERT])).toBe(expected)
  })

  it.each([undefined, '', '0'])('is not made with the form %j', (form) => {
    expect(terminalSequence(form, [ALERT])).toBe(undefined)
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
