import { describe, expect, it } from 'vitest'
import { endless, nextOf, reachedFrom, reversed, waysIn } from '../../../src/run/definition/definition.ts'
import { checkShape, type DefinitionFile } from '../../../src/run/definition/definition-schema.ts'

/** A definition of phases with these values of `next`, named a, b, c and so on. */
function fileOf(...nexts: unknown[]): DefinitionFile {
  const phases = nexts.map((next, at) => ({ id: 'abcdef'[at], prompt: 'p', artifact: `${at}`, next }))
  const shape = checkShape({ name: 'x', phases })
  if (!('value' in shape)) throw new Error(JSON.stringify(shape.faults))
  return shape.value
}

const judged = (pass: string, fail: string) => ({ pass, fail, verdict: '/ok' })

describe('the graph of a definition', () => {
  it('has each way once', () => {
    const ways = waysIn(fileOf(undefined, judged('c', 'c'), judged('a', 'nowhere'), undefined))
    expect([...ways.values()]).toEqual([['b'], ['c'], ['a', 'nowhere'], ['end']])
    expect([...reversed(ways)].join(' ')).toBe('a,c b,a c,b d, end,d')
  })

  it('knows what a phase leads to, and that only a phase on a loop leads to itself', () => {
    const ways = waysIn(fileOf('c', 'c', judged('d', 'c'), 'end'))
    expect(['a', 'b', 'c', 'd'].map((id) => [...reachedFrom(id, ways).keys()].join())).toEqual([
      ...['c,d,end', 'c,d,end', 'd,c,end', 'end'],
    ])
    expect([...reversed(ways).values()]).toEqual([[], [], ['a', 'b', 'c'], ['c'], ['d']])
  })

  it('names the first phase of each part without a way to the end', () => {
    expect(endless(waysIn(fileOf(judged('b', 'e'), 'c', 'b', 'd', judged('end', 'a'))), 'a')).toEqual(['b'])
    expect(endless(waysIn(fileOf(judged('b', 'end'), 'a')), 'a')).toEqual([])
  })
})

describe('the next of a phase', () => {
  const [first, second] = fileOf(undefined, { verdict: '/k', reason: '/r', cases: { bug: 'a' } }).phases

  it('is the following phase if it has none, or the end', () => {
    expect(first && nextOf(first, second)).toEqual({ pass: 'b', fail: 'b' })
    expect(first && nextOf(first, undefined)).toEqual({ pass: 'end', fail: 'end' })
  })

  it('has the default of its cases if there is no verdict', () => {
    const cases = { verdict: '/k', reason: '/r', cases: { bug: 'a' } }
    expect(second && nextOf(second, undefined)).toEqual({ ...cases, pass: 'end', fail: 'end', default: undefined })
    const [only] = fileOf({ ...cases, default: 'a' }).phases
    expect(only && nextOf(only, undefined)).toEqual({ ...cases, pass: 'a', fail: 'a', default: 'a' })
  })
})
