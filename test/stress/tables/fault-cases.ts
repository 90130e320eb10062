/** Cases: a fault in a program, and the checks of its project afterwards. */

import { expect } from 'vitest'
import { parseMarker } from '../../../src/marker/marker.ts'
import { partOf } from '../../support/stress-fifth.ts'
import type { Outcome } from '../support/actor.ts'
import { CLAIMS, GUARD, MARKER, type Program, TASK } from '../support/contention.ts'
import type { FaultRunner, Happening, Room, Start } from '../support/fault-runner.ts'
import { filesBelow, isJsonObject, linesOf } from '../support/files.ts'
import type { Fault } from '../support/instrument.ts'
import { essentials, type Files, findFileFlaws, findRunFlaws, isRunFile, letTimePass, putFiles } from './fault-files.ts'
import { type FaultProgram, STOP } from './fault-programs.ts'

export interface Measured {
  readonly program: FaultProgram
  readonly before: Files
  readonly after: Files
  readonly outcome: Outcome
  /** The program's file-system calls, in order: name and file. */
  readonly calls: readonly string[]
}

const NO_FIGURES = {
  ...{ kills: 0, errors: 0, stops: 0, blocks: 0 },
  /** The number of power cuts, and of the different remains that they left. */
  ...{ cuts: 0, remains: 0 },
  /** The number of faults that fell on no call, because the program made fewer calls. */
  missed: 0,
}

export type Tally = typeof NO_FIGURES & { readonly flaws: string[] }

/** Runs all cases, or a part of them (test/support/stress-fifth.ts), and expects that none has a flaw. Returns the figures. */
export async function findNoFlaws(
  what: string,
  runner: FaultRunner,
  casesOf: (tally: Tally) => Iterable<(room: Room) => Happening>,
  stride?: number,
): Promise<Tally> {
  const tally: Tally = { ...NO_FIGURES, flaws: [] }
  const since = runner.count()
  await runner.runAll(partOf(casesOf(tally), stride))
  const { flaws, ...figures } = tally
  console.info(`${what}: ${runner.count() - since} runs, ${JSON.stringify(figures)}`)
  expect(flaws.length === 0 ? [] : [`${flaws.length} flaws`, ...flaws.slice(0, 40)]).toEqual([])
  return tally
}

/** The number of stops after which a marker that is still there is a flaw: three blocks, giving up, and one to spare. */
export const MAX_STOPS = 5

/** The same for a campaign, in which most programs are killed before they have an effect. */
const MAX_TURNS = 1000

export async function measureAll(runner: FaultRunner, programs: readonly FaultProgram[]): Promise<Measured[]> {
  const measured = new Map<string, Measured>()
  await runner.runAll(
    programs.map((program) => (room: Room) => measure(program, room, (one) => measured.set(program.name, one))),
  )
  return programs.map(({ name }) => measured.get(name) as Measured)
}

/** Runs a program's setup, then the program itself, without a fault. */
function* measure(program: FaultProgram, room: Room, take: (measured: Measured) => void): Happening {
  putFiles(room.project, { '.git/': '', ...program.files })
  for (const setup of program.setup ?? []) {
    const outcome = yield { program: setup(room.project) }
    if (outcome.exitCode !== 0) throw new Error(`${program.name}: setup: ${outcome.stderr}`)
  }
  const made = filesBelow(room.project)
  const before = { ...made, ...program.change?.(made) }
  putFiles(room.project, before)
  const outcome = yield { program: program.run(room.project), isMeasured: true }
  const after = filesBelow(room.project)
  if (outcome.exitCode !== 0) throw new Error(`${program.name}: ${outcome.stderr}`)
  const calls = outcome.calls.map((call) => call.replaceAll(room.project, ''))
  take({ program, before, after, outcome, calls })
}

/** Kills a program at one of its calls, checks its files, and runs it again. */
export function* kill(measured: Measured, room: Room, fault: Start, tally: Tally): Happening {
  const { program, before, after } = measured
  const found = new Findings(tally, `${program.name}: ${describe(measured, fault)}`)
  putFiles(room.project, before)
  const outcome = yield { ...fault, program: program.run(room.project) }
  if (!outcome.killed) {
    tally.missed += 1
    return
  }
  tally.kills += 1
  const left = filesBelow(room.project)
  found.add(...findFileFlaws(before, after, left), ...lossFlaws(program, before, left), ...outsideFlaws(room))
  let blocks = countBlock(outcome)
  if (blocks > 0) found.add(...countFlaws(outcome, left))
  blocks += yield* runAgain(program, room, found)
  const settled = filesBelow(room.project)
  found.add(...findFileFlaws(before, after, settled, true), ...lossFlaws(program, before, settled))
  yield* stopUntilGone(measured, room, blocks, found)
  yield* settleRuns(measured, room, found)
}

/** The next run of a program that was stopped half-way. Returns 1 if it blocks, otherwise 0. */
export function* runAgain(program: FaultProgram, room: Room, found: Findings): Generator<Start, number, Outcome> {
  letTimePass(room.project)
  const again = yield { program: program.run(room.project) }
  found.add(...againFlaws(program, again))
  return countBlock(again)
}

/** After a kill the next stop of any agent removes what is left of runs that have ended. */
function* settleRuns({ before, after }: Measured, room: Room, found: Findings): Happening {
  if (![before, after].some((files) => Object.keys(files).some(isRunFile))) return
  letTimePass(room.project)
  const outcome = yield { program: STOP(room.project) }
  const settled = filesBelow(room.project)
  found.add(...answerFlaws(outcome), ...findRunFlaws(settled))
}

/** Makes one call fail, or it and every later one of its name, and checks the result of the program. */
export function* fail(measured: Measured, room: Room, fault: Start, isFollowed: boolean, tally: Tally): Happening {
  const { program, before, after } = measured
  const found = new Findings(tally, `${program.name}: ${describe(measured, fault)}`)
  putFiles(room.project, before)
  const outcome = yield { ...fault, program: program.run(room.project) }
  if (hitOwnFile(outcome)) {
    tally.missed += 1
    return
  }
  tally.errors += 1
  if (outcome.killed) found.add('it was killed')
  const left = filesBelow(room.project)
  found.add(...findFileFlaws(before, after, left), ...lossFlaws(program, before, left), ...outsideFlaws(room))
  const isHook = isHookProgram(measured)
  found.add(...(isHook ? hookFlaws(measured, fault, outcome, left) : commandFlaws(measured, fault, outcome, left)))
  if (!isFollowed) return
  const blocks = countBlock(outcome) + (yield* runAgain(program, room, found))
  yield* stopUntilGone(measured, room, blocks, found)
}

/**
 * Whether the fault prevented Node from opening one of the built files: with strace it is the nth call of its name, and
 * Node's own start makes one call more or less from run to run.
 */
function hitOwnFile({ stderr }: Outcome): boolean {
  return /^node:fs:\d+\n[\s\S]*, open '[^'\n]*[/\\]dist[/\\][^'\n]*\.js'/.test(stderr)
}

export function* stopUntilGone({ program }: Measured, room: Room, blocksBefore: number, found: Findings): Happening {
  if (program.blocks === undefined) return
  let blocks = blocksBefore
  for (let stop = 0; hasMarker(room); stop++) {
    if (stop >= MAX_STOPS) {
      found.add('no stop ends the marker')
      return
    }
    letTimePass(room.project)
    const outcome = yield { program: STOP(room.project) }
    found.tally.stops += 1
    found.add(...answerFlaws(outcome), ...countFlaws(outcome, filesBelow(room.project)))
    blocks += countBlock(outcome)
  }
  found.tally.blocks += blocks
  const [least, most] = program.blocks
  if (blocks > most || blocks < least) found.add(`${blocks} blocks, not ${least} to ${most}`)
}

/** The call at which the next program of a campaign is killed; undefined for none. */
export interface Blow {
  readonly at: number
  readonly fault: Fault
  /** True when time passes before it: to other programs, a process killed a moment ago may still be running. */
  readonly later: boolean
}

/**
 * A campaign: programs on one marker, killed one after another, until the marker is gone. All of them together block at
 * most three stops.
 */
export function* campaign(
  measured: Measured,
  room: Room,
  programs: readonly ((root: string) => Program)[],
  next: () => Blow | undefined,
  tally: Tally,
): Happening {
  putFiles(room.project, measured.before)
  const isOnlyStops = programs.length === 1
  const told: string[] = []
  let blocks = 0
  let calm = 0
  for (let turn = 0; hasMarker(room); turn++) {
    const blow = next()
    if (blow === undefined) calm += 1
    // When no program is killed any more, the stops must end the marker.
    const program = blow === undefined ? STOP : (programs[turn % programs.length] as typeof STOP)
    if (blow === undefined || blow.later) letTimePass(room.project)
    const outcome = yield { program: program(room.project), ...blow }
    const isStop = program === STOP
    tally.stops += isStop ? 1 : 0
    tally.kills += outcome.killed ? 1 : 0
    blocks += countBlock(outcome)
    told.push(
      `${turn % programs.length}${blow === undefined ? '' : ` ${blow.fault} at ${blow.at}${blow.later ? ', later' : ''}`}`,
    )
    if (countBlock(outcome) > 0) told.push('a block')
    const found = new Findings(tally, `campaign: ${told.slice(-12).join('; ')}`)
    const left = filesBelow(room.project)
    found.add(...(isOnlyStops ? findFileFlaws(measured.before, measured.after, left, true) : wholeFlaws(left)))
    if (isStop) found.add(...countFlaws(outcome, left))
    if (isStop && !outcome.killed) found.add(...answerFlaws(outcome))
    if (blocks > 3) found.add(`${blocks} blocks of one marker`)
    const isStuck = turn > MAX_TURNS || (calm >= MAX_STOPS && hasMarker(room))
    if (isStuck) found.add('no stop ends the marker')
    if (found.isAny) return
  }
  tally.blocks += blocks
}

function wholeFlaws(left: Files): string[] {
  return Object.entries(left).flatMap(([name, text]) => {
    const isBroken =
      (name.endsWith(`/${MARKER}`) && parseMarker(text).fields === undefined) ||
      (name.endsWith(`/${GUARD}`) && !/^\d+\n$/.test(text))
    return isBroken ? [`${name} reads ${JSON.stringify(text)}`] : []
  })
}

export class Findings {
  readonly tally: Tally
  readonly #where: string
  isAny = false

  constructor(tally: Tally, where: string) {
    this.tally = tally
    this.#where = where
  }

  add(...flaws: readonly string[]): void {
    if (flaws.length === 0) return
    this.isAny = true
    this.tally.flaws.push(...flaws.map((flaw) => `${this.#where}: ${flaw}`))
  }
}

function describe({ calls }: Measured, { at = 0, fault, tampering }: Start): string {
  return tampering === undefined ? `${fault} at ${at} (${calls[at - 1]})` : tampering.join(' ')
}

function isHookProgram({ outcome }: Measured): boolean {
  return /^\{.*\}\n$/.test(outcome.stdout)
}

export function hasMarker(room: Room): boolean {
  return Object.keys(filesBelow(room.project)).includes(`specs/${TASK}/${MARKER}`)
}

/** Checks that no evidence is lost. Losing it is a flaw even if the program always does. */
export function lossFlaws({ keeps = [] }: FaultProgram, before: Files, left: Files): string[] {
  const unparsable = Object.entries(before).flatMap(([name, text]) =>
    name.endsWith(`/${MARKER}`) && parseMarker(text).fields === undefined ? [text] : [],
  )
  return [...keeps, ...unparsable]
    .filter((text) => !Object.values(left).includes(text))
    .map((text) => `lost: ${JSON.stringify(text.slice(0, 100))}`)
}

function outsideFlaws(room: Room): string[] {
  return [room.outside, room.home].flatMap((folder) => {
    const found = JSON.stringify(filesBelow(folder))
    return found === '{"canary":"untouched"}' ? [] : [`outside: ${found}`]
  })
}

/** 1 for a complete answer that blocks, otherwise 0. */
export function countBlock({ stdout }: Outcome): number {
  return blockOf(stdout) === undefined ? 0 : 1
}

function blockOf(stdout: string): string | undefined {
  if (!stdout.startsWith('{') || !stdout.endsWith('}\n') || !isJsonObject(stdout)) return undefined
  const { decision, reason } = JSON.parse(stdout) as { decision?: string; reason?: string }
  return decision === 'block' ? (reason ?? '') : undefined
}

/** The tasks for which an answer blocks, with their counts. */
export function blocksIn(stdout: string): { readonly task: string; readonly number: string }[] {
  const found = [...(blockOf(stdout) ?? '').matchAll(/^Task (\S+):[\s\S]*?Blocked stop (\d) of 3/gm)]
  return found.map(([, task = '', number = '']) => ({ task, number }))
}

/** Checks that a printed block is counted on disk; a loop guard that could be lost is no proof. */
export function countFlaws({ stdout }: Outcome, left: Files, isGuardCertain = true): string[] {
  return blocksIn(stdout).flatMap(({ task, number }) => {
    const folder = `specs/${task}/`
    const claimed = Object.keys(left).some(
      (name) => name.startsWith(`${folder}${CLAIMS}/`) && name.endsWith(`.${number}`),
    )
    const guard = isGuardCertain ? left[`${folder}${GUARD}`] : undefined
    if (!(`${folder}${MARKER}` in left)) return [`blocked for ${task}, whose marker is gone`]
    return claimed && Number(guard ?? number) >= Number(number) ? [] : [`block ${number} of ${task} is not on disk`]
  })
}

export function answerFlaws({ stdout, exitCode, stderr }: Outcome): string[] {
  return [
    ...(exitCode === 0 ? [] : [`exit code ${exitCode}`]),
    ...(/^\{.*\}\n$/.test(stdout) && isJsonObject(stdout) ? [] : [`stdout: ${JSON.stringify(stdout)}`]),
    ...(/\n {4}at |UNCAUGHT/.test(stderr) ? [`stderr: ${stderr}`] : []),
  ]
}

/** Checks that the hook answers as usual, or allows the stop and says why. */
function hookFlaws({ calls, outcome: usual }: Measured, fault: Start, outcome: Outcome, left: Files): string[] {
  const isSilent = gist(outcome.stdout) !== gist(usual.stdout) && outcome.stderr === ''
  if (isSilent && isRefusedArtifact(fault, outcome.faulted ?? calls[(fault.at ?? 0) - 1])) return answerFlaws(outcome)
  return [
    ...answerFlaws(outcome),
    ...countFlaws(outcome, left),
    ...(isSilent ? [`answers ${outcome.stdout.trim().slice(0, 80)} with an empty stderr`] : []),
  ]
}

/** The essence of an answer: the decision, and the number of postflights that it lists. Commands and ages may differ. */
function gist(stdout: string): string {
  if (!isJsonObject(stdout)) return stdout
  const { decision, hookSpecificOutput } = JSON.parse(stdout) as {
    decision?: string
    hookSpecificOutput?: { additionalContext?: string }
  }
  const told = hookSpecificOutput?.additionalContext?.match(/^- /gm)?.length ?? 0
  return `${decision} ${told}`
}

/** Calls that change something. Where one fails, something cannot be written; where another call fails, something cannot be read. */
const CHANGING = /^(?:write|fsync|rename|link|unlink|mkdir|rmdir|rm|copyFile|lutimes|chmod|chown)/

const NOTE = /^postflight: (?:not recorded in the journal: |.* cannot be read \(\w+\), so it was not cleared$)/

/**
 * True when an artifact could not be read. The run counts it as invalid and goes on. If all calls fail from one on, that may
 * be the reading of the run's id or of its run file, just before.
 */
const isRefusedArtifact = ({ fault }: Start, faulted = ''): boolean =>
  /:(?:EACCES|EPERM)$/.test(fault ?? '') &&
  (fault?.startsWith('errors:') === true
    ? /(?:step-result|made|check)\.json$|workflow\/id$|\/running\/[^/]+$/
    : /(?:step-result|made|check)\.json$/
  ).test(faulted)

/** Checks that a command did its work, or names in one line the file that it could not write. */
function commandFlaws(
  { before, after, calls, outcome: usual }: Measured,
  fault: Start,
  outcome: Outcome,
  left: Files,
): string[] {
  const { exitCode, stderr } = outcome
  const faulted = outcome.faulted ?? calls[(fault.at ?? 0) - 1]
  const lines = linesOf(stderr)
  const usualLines = usual.stderr.split('\n')
  const errors = lines.filter((line) => !NOTE.test(line) && !usualLines.includes(line))
  const known = Object.values(before).join('\n')
  if (exitCode === 0) {
    if (isRefusedArtifact(fault, faulted)) return []
    const [wanted, got] = [after, left].map((files) => JSON.stringify(sorted(essentials(files, known))))
    return [
      ...errors.map((line) => `exit code 0, but: ${line}`),
      ...(wanted === got || stderr.includes('it was not cleared')
        ? []
        : [`exit code 0, but not done: ${got} instead of ${wanted}`]),
    ]
  }
  const allowed = CHANGING.test(faulted ?? '') ? [73] : [65, 73]
  return [
    ...(allowed.includes(exitCode) ? [] : [`exit code ${exitCode}: ${stderr.trim()}`]),
    ...(errors.length === 1 ? [] : [`${errors.length} lines on stderr: ${stderr}`]),
    ...errors
      .filter((line) => !/^postflight: .*(?:specs|\.claude|flow\.json|project)/.test(line))
      .map((line) => `names no file: ${line}`),
  ]
}

export function sorted(files: Files): Files {
  return Object.fromEntries(Object.entries(files).sort(([one], [other]) => (one < other ? -1 : 1)))
}

function againFlaws(program: FaultProgram, outcome: Outcome): string[] {
  if (outcome.killed) return ['the next run was killed']
  const wrong = !(program.again ?? [0]).includes(outcome.exitCode)
  return [
    ...(wrong ? [`the next run: exit code ${outcome.exitCode}: ${outcome.stderr}`] : []),
    ...(/could not be used|not recorded in the journal|the stop was allowed|\n {4}at /.test(outcome.stderr)
      ? [`the next run: ${outcome.stderr}`]
      : []),
  ]
}
