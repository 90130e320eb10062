import { describe, expect, it } from 'vitest'
import {
  endless,
  followers,
  nextOf,
  phasesOnLoops,
  reachable,
  reversed,
} from '../../../src/run/definition/definition.ts'
import { checkShape, type DefinitionFile } from '../../../src/run/definition/definition-schema.ts'

/** A definition of phases with these values of `next`, named a, b, c and so on. */
function fileOf(...nexts: unknown[]): DefinitionFile {
  const phases = nexts.map((next, at) => ({ id: 'abcdef'[at], prompt: 'p', artifact: `${at}`, next }))
  const shape = checkShape({ name: 'x', phases })
  if (!('file' in shape)) throw new Error(JSON.stringify(shape.faults))
  return shape.file
}

const judged = (pass: string, fail: string) => ({ pass, fail, verdict: '/ok' })

describe('the graph of a definition', () => {
  it('has no edge to the end, to an unknown phase, or twice to one phase', () => {
    const file = fileOf(undefined, judged('c', 'c'), judged('a', 'nowhere'), undefined)
    expect(followers(file)).toEqual([[1], [2], [0], []])
  })

  it('knows what a phase leads to, and which phases are on loops', () => {
    const edges = followers(fileOf('c', 'c', judged('d', 'c'), 'end'))
    expect([...reachable(edges)].sort()).toEqual([0, 2, 3])
    expect([...phasesOnLoops(edges)]).toEqual([2])
    expect(reversed(edges)).toEqual([[], [], [0, 1, 2], [2]])
  })

  it('names the first phase of each part without a way to the end', () => {
    const file = fileOf(judged('b', 'e'), 'c', 'b', 'd', judged('end', 'a'))
    expect(endless(file, followers(file))).toEqual([1])
    const sound = fileOf(judged('b', 'end'), 'a')
    expect(endless(sound, followers(sound))).toEqual([])
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
