import { describe, expect, it } from 'vitest'
import { terminalSequence } from '../../../src/stop/answer.ts'

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
