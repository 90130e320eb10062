import { describe, expect, it } from 'vitest'
import { WRONG } from '../../../src/run/definition/fields.ts'
import { type Next, readNext, targetAfter, targetsOf } from '../../../src/run/definition/phase-fields.ts'

/** The `next` of a phase with these cases. */
function withCases(cases: Readonly<Record<string, string>>, otherwise?: string): Next {
  return { pass: 'end', fail: 'end', verdict: '/k', reason: undefined, cases, otherwise }
}

describe('the ways out of a phase', () => {
  it('are read from the keys of the snapshot', () => {
    const held = { pass: 'a', fail: 'b', verdict: '/k', reason: '/r', cases: { bug: 'a' }, default: 'c' }
    const { default: otherwise, ...same } = held
    expect(readNext(held)).toEqual({ ...same, otherwise })
    expect(readNext({ ...held, cases: { bug: 'a', idea: 3 } })).toBe(WRONG)
  })

  it('lead to each target once', () => {
    expect(targetsOf({ ...withCases({}), cases: undefined, pass: 'a', fail: 'a' })).toEqual(['a'])
    expect(targetsOf(withCases({ bug: 'a', idea: 'b' }))).toEqual(['a', 'b'])
    expect(targetsOf(withCases({ bug: 'a' }, 'c'))).toEqual(['a', 'c'])
  })

  it.each([
    [{ bug: 'a' }, 'c', 'bug', 'a'],
    [{ bug: 'a' }, 'c', 'idea', 'c'],
    [{ bug: 'a' }, undefined, 'idea', 'end'],
    [{ undefined: 'a' }, 'c', undefined, 'c'],
    [{ bug: 'a' }, 'c', 'toString', 'c'],
  ] as const)('with %j and the default %s, the verdict %s leads to %s', (cases, otherwise, verdict, target) => {
    expect(targetAfter(withCases(cases, otherwise), verdict)).toBe(target)
  })
})
