/** Scenarios: programs that run on one marker at once, and the results that any order of their calls may have. */

import fs from 'node:fs'
import path from 'node:path'
import type { Job, Outcome } from './actor.ts'
import {
  ABANDONED,
  type Arena,
  blocksOf,
  CLAIMS,
  GARBLED,
  GUARD,
  HalfWritten,
  LOCK,
  MARKER,
  NEW_REASON,
  OLD_ID,
  OLD_MARKER,
  OLD_REASON,
  type Program,
} from './contention.ts'
import { isJsonObject } from './files.ts'
import { ERROR_CODES, type Fault, KILLS } from './instrument.ts'
import { randomOf } from './scheduler.ts'

export interface Run {
  readonly outcomes: readonly Outcome[]
  /** Blocks while all programs ran (`during`), and together with the stops that followed one by one (`total`). */
  readonly during: { readonly old: number; readonly fresh: number }
  readonly total: { readonly old: number; readonly fresh: number }
  /** The folder's files after all programs, before the stops that followed. */
  readonly files: Readonly<Record<string, string>>
  /** The number of times that a marker was abandoned. */
  readonly caps: number
}

/** Programs that run at once, and a check of their result: a text for each flaw that no order of calls may cause. */
export interface Scenario {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  /** Files that must have an age, in ms. */
  readonly oldMs?: Readonly<Record<string, number>>
  readonly programs: (arena: Arena) => Program[]
  readonly check: (run: Run) => Flaw[]
  /** The number of counts that the old marker may have: one that was abandoned gets a new count when it is adopted. */
  readonly counts?: number
}

type Flaw = string | false

const text = (fields: object): string => `${JSON.stringify(fields, null, 2)}\n`
const OWNED = { [MARKER]: text(OLD_MARKER) }
const { id: _id, cc_session_id: _session, ...bareFields } = OLD_MARKER
/** A marker as a skill's bash writes it: without id and host session. */
const BARE = { [MARKER]: text({ ...bareFields, created: new Date().toISOString() }) }
const REWRITTEN = text({ reason: NEW_REASON, created: new Date().toISOString() })
const WAITED = text({ ...OLD_MARKER, wait: { for: 'an answer', count: 1, prompt_id: 'an earlier prompt' } })
const spentBefore = (count: number): Record<string, string> => ({
  [GUARD]: `${count}\n`,
  ...Object.fromEntries(Array.from({ length: count }, (_, at) => [`${CLAIMS}/${OLD_ID}.${at + 1}`, 'f0-0\n'] as const)),
})

const hooks = (arena: Arena, count: number, more: Readonly<Record<string, unknown>> = {}): Program[] =>
  Array.from({ length: count * arena.crowd }, () => arena.hook(more))
/** What makes a sub-agent's payload one of the main agent, which alone ends its waits. */
const MAIN_STOP = { hook_event_name: 'Stop', agent_id: undefined, agent_type: undefined, prompt_id: 'a later prompt' }
const CLEAR = ['clear', '259']
const ADOPT = ['adopt', '259']
const PLAN = ['create', '259', '--operation', 'plan', '--reason', NEW_REASON]
const STEPS = ['1', '2', '3'].map((step) => ['step', '259', step])
const stops = (count: number, files: Scenario['files'], ...commands: readonly (readonly string[])[]) => ({
  files,
  programs: andStops(count, ...commands),
})
/** These commands, and then so many stops. */
const andStops =
  (stops: number, ...commands: readonly (readonly string[])[]) =>
  (arena: Arena): Program[] => [...commands.map((words) => arena.cli(...words)), ...hooks(arena, stops)]

/** The error of the program `index`, unless it ended with one of these codes. */
const endedBadly = ({ outcomes }: Run, index: number, codes: readonly number[] = [0]): Flaw =>
  !codes.includes(outcomes[index]?.exitCode ?? -1) && `${index}: ${outcomes[index]?.stderr}`
const isDone = ({ outcomes }: Run, index: number): boolean => outcomes[index]?.exitCode === 0
const markerIn = ({ files }: Run) =>
  JSON.parse(files[MARKER] ?? files[ABANDONED] ?? '{}') as {
    readonly steps?: readonly { readonly done?: boolean }[]
    readonly wait?: object
    readonly agent_id?: string
  }
const exactlyThree = ({ total }: Run): Flaw => total.old !== 3 && `${total.old} blocks, not three`
const freshThree = ({ total }: Run): Flaw => total.fresh !== 3 && `${total.fresh} blocks of the new marker, not three`
const threeInAll = ({ caps, total }: Run): Flaw =>
  caps === 1 && total.old + total.fresh > 3 && `${total.old} + ${total.fresh} blocks`
const abandonedOnce = ({ caps }: Run): Flaw => caps !== 1 && `abandoned ${caps} times`
const strayGuard = ({ files }: Run): Flaw => !(MARKER in files) && GUARD in files && 'a loop guard without a marker'
const nothingLeft = ({ files }: Run): Flaw => {
  const ours = Object.keys(files).filter((name) => name.startsWith('.postflight-'))
  return ours.length > 0 && `left: ${ours.join(' ')}`
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'six stops of one marker: three are blocked, and it is abandoned once',
    ...stops(6, OWNED),
    check: (run) => [
      exactlyThree(run),
      run.during.old !== 3 && `${run.during.old} blocks at once, not three`,
      abandonedOnce(run),
      GUARD in run.files && run.files[GUARD] !== '3\n' && `the loop guard reads ${run.files[GUARD]}`,
      strayGuard(run),
    ],
  },
  {
    name: 'six stops of a marker without an id',
    ...stops(6, BARE),
    check: (run) => [exactlyThree(run), abandonedOnce(run), strayGuard(run)],
  },
  {
    name: 'six stops, and the loop guard is removed',
    files: OWNED,
    programs: (arena) => [arena.shell({ call: 'remove', file: GUARD }), ...hooks(arena, 6)],
    check: (run) => [exactlyThree(run), strayGuard(run)],
  },
  {
    name: 'six stops, and the loop guard is garbled',
    files: OWNED,
    programs: (arena) => [arena.shell({ call: 'replace', file: GUARD, text: GARBLED }), ...hooks(arena, 6)],
    check: (run) => [exactlyThree(run)],
  },
  {
    name: 'stops and clear: nothing is left, and nothing comes back',
    ...stops(5, OWNED, CLEAR),
    check: (run) => [endedBadly(run, 0), nothingLeft(run)],
  },
  {
    name: 'stops and clear of a marker with two continuations spent',
    ...stops(5, { ...OWNED, ...spentBefore(2) }, CLEAR),
    check: (run) => [run.total.old > 1 && `${run.total.old} blocks after two`, nothingLeft(run)],
  },
  {
    name: 'stops and two clears',
    ...stops(4, OWNED, CLEAR, ['clear', '--all']),
    check: (run) => [endedBadly(run, 0), endedBadly(run, 1), nothingLeft(run)],
  },
  {
    name: 'stops and plain rm of marker and loop guard: the marker does not come back, no loop guard stays',
    files: BARE,
    programs: (arena) => [
      arena.shell({ call: 'remove', file: MARKER }, { call: 'remove', file: GUARD }),
      ...hooks(arena, 5),
    ],
    check: (run) => [MARKER in run.files && 'the marker came back', strayGuard(run)],
  },
  {
    name: 'stops and bypass: the next stop after it ends the marker',
    ...stops(5, OWNED, ['bypass', '259']),
    check: (run) => [endedBadly(run, 0, [0, 1]), strayGuard(run)],
  },
  {
    name: 'stops and two ticks: three are blocked, and no tick is lost',
    ...stops(4, OWNED, ...STEPS.slice(0, 2)),
    check: (run) => [
      exactlyThree(run),
      ...[0, 1].map((at) => endedBadly(run, at, [0, 1])),
      ...[0, 1].map((at) => isDone(run, at) && markerIn(run).steps?.[at]?.done !== true && `tick ${at} lost`),
    ],
  },
  {
    name: 'six stops of a marker whose wait is over: three are blocked, and the wait ends',
    files: { [MARKER]: WAITED },
    programs: (arena) => hooks(arena, 6, MAIN_STOP),
    check: (run) => [
      exactlyThree(run),
      abandonedOnce(run),
      MARKER in run.files && 'wait' in markerIn(run) && 'the wait is still there',
      strayGuard(run),
    ],
  },
  {
    name: 'stops and a wait: three are blocked, and the wait is not lost',
    ...stops(4, OWNED, ['wait', '259', '--for', 'an answer']),
    check: (run) => [
      exactlyThree(run),
      endedBadly(run, 0, [0, 1]),
      isDone(run, 0) && MARKER in run.files && !('wait' in markerIn(run)) && 'lost',
    ],
  },
  {
    name: 'ticks of three processes, with the lock of a killed one',
    ...stops(0, { ...OWNED, [LOCK]: '' }, ...STEPS),
    oldMs: { [LOCK]: 60_000 },
    check: (run) => [
      ...run.outcomes.map((_, at) => endedBadly(run, at)),
      markerIn(run).steps?.some((step) => step.done !== true) !== false && 'a tick lost',
    ],
  },
  {
    name: 'stops while the owner is noted: three are blocked',
    files: OWNED,
    programs: (arena) => [arena.claimsOwner(), ...hooks(arena, 5)],
    check: (run) => [
      exactlyThree(run),
      MARKER in run.files &&
        run.outcomes[0]?.stderr === '' &&
        markerIn(run).agent_id !== 'agent-a' &&
        'the owner was forgotten',
    ],
  },
  {
    name: 'stops and create for the same operation: the count goes on',
    ...stops(4, OWNED, ['create', '259', '--operation', 'research']),
    // If it was abandoned first, `create` makes a new marker with a count of its own.
    check: (run) => [endedBadly(run, 0), run.caps === 1 && exactlyThree(run)],
  },
  {
    name: 'stops and adopt: the count goes on',
    ...stops(4, { ...OWNED, ...spentBefore(1) }, ADOPT),
    counts: 2,
    check: (run) => [
      endedBadly(run, 0, [0, 1]),
      run.caps === 1 && run.total.old !== 2 && `${run.total.old} blocks after one`,
    ],
  },
  {
    name: 'stops and adopt of a marker without an id, two continuations spent by another program',
    ...stops(3, { ...BARE, [GUARD]: '2\n' }, ADOPT),
    counts: 2,
    check: (run) => [run.caps === 1 && run.total.old > 1 && `${run.total.old} blocks after two`],
  },
  {
    name: 'stops and adopt of an abandoned marker: the new marker has its own count',
    ...stops(4, { [ABANDONED]: text(OLD_MARKER) }, ADOPT),
    check: (run) => [endedBadly(run, 0), exactlyThree(run)],
  },
  {
    name: 'stops and create --force: neither the old nor the new marker blocks more than three times',
    ...stops(5, OWNED, [...PLAN, '--force']),
    check: (run) => [endedBadly(run, 0)],
  },
  {
    name: 'stops and create --force on a marker with three continuations spent',
    ...stops(5, { ...OWNED, ...spentBefore(3) }, [...PLAN, '--force']),
    check: (run) => [endedBadly(run, 0), run.total.old > 0 && 'the old marker blocked a fourth time'],
  },
  {
    name: 'stops, clear and create: neither marker blocks more than three times',
    ...stops(4, OWNED, CLEAR, PLAN),
    check: (run) => [endedBadly(run, 0), endedBadly(run, 1)],
  },
  ...[
    { name: 'stops and a marker that bash replaces in the same chain: three in all', files: BARE },
    { name: 'stops and a marker with an id that bash replaces by one without: three in all', files: OWNED },
  ].map(
    (one): Scenario => ({
      ...one,
      programs: (arena) => [arena.shell({ call: 'replace', file: MARKER, text: REWRITTEN }), ...hooks(arena, 5)],
      // If it is replaced after it was abandoned, it is a new marker.
      check: (run) => [threeInAll(run)],
    }),
  ),
  {
    name: 'a tick, a clear and a noted owner: a cleared marker does not come back',
    files: OWNED,
    programs: (arena) => [
      ...andStops(0, ...STEPS.slice(0, 2))(arena),
      arena.claimsOwner(),
      ...andStops(0, ['bypass', '259'], CLEAR)(arena),
    ],
    check: (run) => [nothingLeft(run)],
  },
  {
    name: 'clear --orphaned and create beside an abandoned marker: the new marker stays',
    ...stops(0, { [ABANDONED]: text(OLD_MARKER) }, ['clear', '--orphaned'], ['create', '259', '--reason', NEW_REASON]),
    check: (run) => [endedBadly(run, 0), endedBadly(run, 1), freshThree(run)],
  },
  {
    name: 'clear --orphaned and create --force over an expired marker: the new marker stays',
    ...stops(
      0,
      { [MARKER]: text({ ...bareFields, created: '2020-01-01T00:00:00Z' }) },
      ['clear', '--orphaned'],
      ['create', '259', '--force', '--reason', NEW_REASON],
    ),
    check: (run) => [endedBadly(run, 0), endedBadly(run, 1), freshThree(run)],
  },
  {
    name: 'four creates of one session: one marker, one id',
    ...stops(0, {}, ...['a', 'b', 'c', 'd'].map((step) => ['create', '259', '--json', '--step', step])),
    check: (run) => {
      const ids = run.outcomes.map(({ stdout }) => (stdout === '' ? '' : (JSON.parse(stdout) as { id: string }).id))
      return [new Set(ids).size !== 1 && `ids ${ids.join(' ')}`, !(MARKER in run.files) && 'no marker']
    },
  },
]

/** The most stops that follow until no marker is left: three blocks, giving up, and one to spare. */
const MAX_STOPS = 5

/** The kind of fault at one call of one program; a seed chooses both. */
export type Disturbance = 'none' | 'kill' | 'error' | 'clock'

/** The clock is set by at most this many hours: markers without an owner expire after 24. */
const MAX_HOURS = 20
/** A fault falls on one of this many calls of a program. */
const CALLS = 80

/** Runs a scenario once. Returns its flaws, none when all is well. */
export async function findFlaws(
  arena: Arena,
  scenario: Scenario,
  seed: number,
  disturbance: Disturbance,
): Promise<{ flaws: string[]; run: Run | undefined }> {
  arena.prepare(scenario.files)
  for (const [name, ms] of Object.entries(scenario.oldMs ?? {})) {
    const time = (Date.now() - ms) / 1000
    fs.utimesSync(path.join(arena.folder, name), time, time)
  }
  const programs = scenario.programs(arena)
  let outcomes: Outcome[]
  try {
    outcomes = await arena.run(programs, seed, disturb(programs, seed, disturbance))
  } catch (error) {
    if (error instanceof HalfWritten) return { flaws: [`half written: ${error.message}`], run: undefined }
    throw error
  }
  const files = arena.files()
  const stops = outcomes.filter((_, index) => programs[index]?.program === 'hook')
  const during = blocksOf(stops)
  const blocks = [...during]
  // The lock or the claim of a killed process counts for a few seconds.
  for (let stop = 1; stop <= MAX_STOPS && MARKER in arena.files(); stop++) {
    blocks.push(
      ...blocksOf([await arena.alone(arena.hook(), ['none', 'clock'].includes(disturbance) ? 0 : stop * 6_000)]),
    )
  }
  const end = arena.files()
  const caps = arena.journal('cap')
  const run: Run = { outcomes, during: countOf(during), total: countOf(blocks), files, caps: caps.length }
  // When the clock jumps, a claim no longer looks underway: then a block may be lost, or a loop guard left. There is never
  // a block too many.
  const counts = (flaw: Flaw): boolean =>
    disturbance !== 'clock' || !/not three$|loop guard|^[01] blocks after one$/.test(String(flaw))
  const isFault = disturbance === 'kill' || disturbance === 'error'
  const flaws = [
    ...commonFlaws(run, stops, end, scenario.counts ?? 1),
    // A fault may cost a continuation, a notice or a command, but nothing else.
    ...(isFault ? [] : [...undisturbedFlaws(arena, files, caps), ...scenario.check(run).filter(counts)]),
    ...(disturbance === 'none' ? [] : await flawsAfterwards(arena)),
  ]
  return { flaws: flaws.filter((flaw) => flaw !== false && flaw !== ''), run } as { flaws: string[]; run: Run }
}

function commonFlaws(
  run: Run,
  stops: readonly Outcome[],
  end: Readonly<Record<string, string>>,
  counts: number,
): Flaw[] {
  return [
    run.total.old > 3 * counts && `the old marker blocked ${run.total.old} times`,
    run.total.fresh > 3 && `the new marker blocked ${run.total.fresh} times`,
    MARKER in end && 'no stop ends the marker',
    ...stops.map((stop) => !stop.killed && !isJsonObject(stop.stdout) && `stdout of a stop: ${stop.stdout}`),
    ...run.outcomes.map(({ stderr: words }) => words.includes('UNCAUGHT') && words),
    ...run.outcomes.map(
      ({ exitCode: code, killed }) => !killed && ![0, 1, 64, 65, 73].includes(code) && `exit code ${code}`,
    ),
  ]
}

function undisturbedFlaws(
  arena: Arena,
  files: Readonly<Record<string, string>>,
  caps: readonly Record<string, unknown>[],
): Flaw[] {
  const litter = Object.keys(files).filter((name) => name.endsWith('.tmp') || name === LOCK)
  const ids = caps.flatMap((cap) => (typeof cap.marker_id === 'string' ? [cap.marker_id] : []))
  return [
    litter.length > 0 && `leftovers: ${litter.join(' ')}`,
    new Set(ids).size < ids.length && 'one marker was abandoned twice',
    arena.journal('unreadable').length > 0 && 'an incomplete line in the journal',
    ...arena.journal('error').map((entry) => `an error was recorded: ${String(entry.detail)}`),
  ]
}

async function flawsAfterwards(arena: Arena): Promise<Flaw[]> {
  const later = 120_000
  const created = await arena.alone(arena.cli('create', '259', '--force', '--reason', NEW_REASON), later)
  const blocked = blocksOf([await arena.alone(arena.hook(), later)])
  const cleared = await arena.alone(arena.cli('clear', '259'), later)
  const left = Object.keys(arena.files()).filter((name) =>
    /^\.postflight-(?:pending|loop-guard|claims|lock)/.test(name),
  )
  return [
    created.exitCode !== 0 && `create afterwards: ${created.stderr}`,
    blocked.length !== 1 && 'the new marker does not block',
    cleared.exitCode !== 0 && `clear afterwards: ${cleared.stderr}`,
    left.filter((name) => !name.endsWith('.tmp')).length > 0 && `left after clear: ${left.join(' ')}`,
  ]
}

function disturb(programs: readonly Program[], seed: number, disturbance: Disturbance): Pick<Job, 'at' | 'fault'>[] {
  const random = randomOf(seed ^ 0x5eed)
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
  const faultOf = (kind: Disturbance): Fault => {
    if (kind === 'clock') return `clock:${Math.round((random() * 2 - 1) * MAX_HOURS * 3_600_000)}`
    return kind === 'kill' ? pick(KILLS) : `error:${pick(ERROR_CODES)}`
  }
  const chosen = pick(programs.filter(({ program }) => program !== 'shell'))
  return programs.map((program) => {
    const isDisturbed = disturbance !== 'none' && program === chosen
    return isDisturbed
      ? { at: 1 + Math.floor(random() * CALLS), fault: faultOf(disturbance) }
      : { at: 0, fault: 'none' }
  })
}

function countOf(reasons: readonly string[]): { old: number; fresh: number } {
  return {
    old: reasons.filter((reason) => reason.startsWith(OLD_REASON)).length,
    fresh: reasons.filter((reason) => reason.startsWith(NEW_REASON)).length,
  }
}
