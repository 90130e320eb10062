import type { Group } from './bench.ts'
import { medianOfPairs, type Timing } from './measure.ts'

/** The limits (docs/design.md, "Speed"): medians of the ratios and differences of whole processes that ran in turn. */

export interface Limit {
  readonly name: string
  /** The measured value, for people. */
  readonly value: string
  readonly limit: string
  readonly held: boolean
}

interface Memory {
  readonly name: string
  readonly node: string
  readonly kilobytes: number
}

/** The limits for which the groups have measurements. */
export function limitsOf(groups: readonly Group[], memory: readonly Memory[]): Limit[] {
  return [...idleLimits(groups), ...groups.flatMap(nodeLimits), ...memoryLimits(memory)]
}

function idleLimits(groups: readonly Group[]): Limit[] {
  const one = find(groups, 'no marker, 1 ')
  const many = find(groups, 'no marker, 500 ')
  const growth = find(groups, 'growth')
  return [
    ...atMost('no marker: launcher / sh -c "echo {}"', ratio(one, 'launcher', 'sh -c "echo {}"'), 1.5),
    ...atMost('no marker: status line / sh -c "echo {}"', ratio(one, 'status line', 'sh -c "echo {}"'), 2),
    ...atMost('no marker, 500 folders: launcher / find', ratio(many, 'launcher', 'find'), 0.5),
    ...atMost('no marker: 5,000 folders / 500 folders', ratio(growth, 'launcher, 5000', 'launcher, 500'), 10),
  ]
}

function nodeLimits(group: Group): Limit[] {
  const on = `Node ${group.node}`
  if (group.name === 'one marker') {
    return [
      ...atMostMs(`${on}: block - empty Node`, difference(group, 'block', 'empty Node'), 12),
      ...atMost(`${on}: block / usual shell hook`, ratio(group, 'block', 'usual shell hook'), 1),
    ]
  }
  if (group.name.startsWith('a hundred markers')) {
    return atMost(`${on}: a hundred markers / one marker`, ratio(group, 'a hundred markers', 'one marker'), 1.3)
  }
  if (group.name === 'commands') {
    return ['--help', 'create', 'clear'].flatMap((name) =>
      atMostMs(`${on}: ${name} - empty Node`, difference(group, name, 'empty Node'), 20),
    )
  }
  if (group.name === 'a transition of a workflow') {
    return ['next', 'hook'].flatMap((name) =>
      atMost(
        `${on}: workflow ${name}, 1,000 phases / 10 phases`,
        ratio(group, `${name}, 1000 phases of 10 steps`, `${name}, 10 phases of 10 steps`),
        2,
      ),
    )
  }
  return []
}

function memoryLimits(memory: readonly Memory[]): Limit[] {
  return memory
    .filter((one) => one.name === 'block')
    .map((block) => {
      const empty = memory.find((one) => one.name === 'empty Node' && one.node === block.node)
      const more = (block.kilobytes - (empty?.kilobytes ?? Number.NaN)) / 1024
      return {
        name: `Node ${block.node}: peak memory of a block - empty Node`,
        value: `${more.toFixed(1)} MB`,
        limit: '15 MB',
        held: more <= 15,
      }
    })
}

function find(groups: readonly Group[], beginning: string): Group | undefined {
  return groups.find((group) => group.name.startsWith(beginning))
}

function timing(group: Group | undefined, name: string): Timing | undefined {
  return group?.timings.find((one) => one.name === name)
}

function ratio(group: Group | undefined, name: string, other: string): number | undefined {
  const [one, two] = [timing(group, name), timing(group, other)]
  return one === undefined || two === undefined ? undefined : medianOfPairs(one, two, (ours, its) => ours / its)
}

function difference(group: Group, name: string, other: string): number | undefined {
  const [one, two] = [timing(group, name), timing(group, other)]
  return one === undefined || two === undefined ? undefined : medianOfPairs(one, two, (ours, its) => ours - its)
}

function atMost(name: string, value: number | undefined, limit: number): Limit[] {
  return value === undefined ? [] : [{ name, value: value.toFixed(2), limit: `${limit}`, held: value <= limit }]
}

function atMostMs(name: string, value: number | undefined, limit: number): Limit[] {
  return value === undefined
    ? []
    : [{ name, value: `${value.toFixed(1)} ms`, limit: `${limit} ms`, held: value <= limit }]
}
