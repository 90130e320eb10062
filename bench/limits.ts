import type { Group } from './bench.ts'
import { type Clock, medianOfPairs, type Timing } from './measure.ts'

/**
 * The limits: medians of the ratios and differences of whole processes that ran in turn. Milliseconds depend on the machine,
 * so those over an empty module are scaled by the time that the empty module takes here.
 */

export interface Limit {
  readonly name: string
  /** The measured value, for people. */
  readonly value: string
  readonly limit: string
  readonly held: boolean
}

export interface Memory {
  readonly name: string
  readonly node: string
  readonly kilobytes: number
}

export const EMPTY_MODULE = 'empty .mjs'
export const EMPTY_SCRIPT = 'empty .cjs'

/** The noise between two runs of the benchmark, which a limit allows for: CPU time is measured on busy machines. */
const NOISE: Readonly<Record<Clock, number>> = { wall: 1.1, cpu: 1.25 }

/** What each subject may take more than an empty module, in ms. */
const OVER_EMPTY: Readonly<Record<string, number>> = {
  block: 6,
  '--help': 9,
  create: 16,
  clear: 16,
  step: 16,
  status: 18,
  statusline: 18,
  explain: 18,
  'stop, 100 phases': 15,
}

/** The time of an empty module for which OVER_EMPTY holds, in ms. */
const EMPTY_MS = 25

/**
 * CPU time also counts Node's other threads, which compile and collect garbage while the main one waits or works. So it has
 * limits of its own, as multiples of an empty module.
 */
const CPU_OF_EMPTY: Readonly<Record<string, number>> = {
  block: 1.25,
  '--help': 1.6,
  create: 1.9,
  clear: 2,
  step: 1.9,
  status: 2,
  statusline: 2,
  explain: 2,
  'stop, 100 phases': 2.3,
}

/** What the first subject may take, as a multiple of the second. */
const RATIOS: readonly (readonly [group: string, subject: string, other: string, limit: number])[] = [
  ['no marker, 1 ', 'launcher', 'sh -c "echo {}"', 1.2],
  ['no marker, 1 ', 'status line', 'sh -c "echo {}"', 2],
  ['no marker, 500 ', 'launcher', 'find', 0.38],
  ['growth', 'launcher, 5000', 'launcher, 500', 10],
  ['one marker', 'block', 'usual shell hook', 1],
  ['a hundred markers', 'a hundred markers', 'one marker', 1.3],
  ['a step done', 'stop, 1000 phases', 'stop, 10 phases', 2],
  ['a step done', 'next, 1000 phases', 'next, 10 phases', 2],
]

/** What the peak memory of each may be more than that of an empty module, in MB. */
const MEMORY: Readonly<Record<string, number>> = { block: 3, create: 5 }

/** The limits for which there are measurements. */
export function limitsOf(groups: readonly Group[], memory: readonly Memory[], clock: Clock): Limit[] {
  return [
    ...groups.flatMap((group) => [...ratioLimits(group, clock), ...emptyLimits(group, clock)]),
    ...memory.flatMap((one) => memoryLimit(one, memory)),
  ]
}

function ratioLimits(group: Group, clock: Clock): Limit[] {
  return RATIOS.flatMap(([beginning, subject, other, limit]) => {
    const [one, two] = [timing(group, subject), timing(group, other)]
    if (!group.name.startsWith(beginning) || one === undefined || two === undefined) return []
    const value = medianOfPairs(one, two, (ours, its) => ours / its)
    return [asLimit(`${nameOf(group)}: ${subject} / ${other}`, value, limit, '', clock)]
  })
}

function emptyLimits(group: Group, clock: Clock): Limit[] {
  const empty = timing(group, EMPTY_MODULE)
  if (empty === undefined) return []
  const scale = empty.medianMs / EMPTY_MS
  return group.timings.flatMap((one) => {
    const [ms, multiple] = [OVER_EMPTY[one.name], CPU_OF_EMPTY[one.name]]
    if (ms === undefined || multiple === undefined) return []
    if (clock === 'cpu') {
      const value = medianOfPairs(one, empty, (ours, its) => ours / its)
      return [asLimit(`Node ${group.node}: CPU time of ${one.name} / ${EMPTY_MODULE}`, value, multiple, '', clock)]
    }
    const more = medianOfPairs(one, empty, (ours, its) => ours - its) / scale
    return [
      asLimit(`Node ${group.node}: ${one.name} - ${EMPTY_MODULE}, if that took ${EMPTY_MS} ms`, more, ms, ' ms', clock),
    ]
  })
}

function memoryLimit({ name, node, kilobytes }: Memory, all: readonly Memory[]): Limit[] {
  const limit = MEMORY[name]
  const empty = all.find((one) => one.name === EMPTY_MODULE && one.node === node)
  if (limit === undefined || empty === undefined) return []
  return [
    asLimit(
      `Node ${node}: peak memory of ${name} - ${EMPTY_MODULE}`,
      (kilobytes - empty.kilobytes) / 1024,
      limit,
      ' MB',
    ),
  ]
}

function nameOf(group: Group): string {
  return group.node === '-' ? group.name : `Node ${group.node}`
}

function timing(group: Group, name: string): Timing | undefined {
  return group.timings.find((one) => one.name === name)
}

function asLimit(name: string, value: number, limit: number, unit: string, clock: Clock = 'wall'): Limit {
  const digits = unit === '' ? 2 : 1
  return {
    name,
    value: `${value.toFixed(digits)}${unit}`,
    limit: `${limit}${unit}`,
    held: value <= limit * NOISE[clock],
  }
}
