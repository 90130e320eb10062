/** What is done to a program and its project, and what must be true of it afterwards. */

import { parseMarker } from '../../../src/core/marker.ts'
import type { Fault, Outcome } from '../support/actor.ts'
import { CLAIMS, GUARD, isJsonObject, MARKER, type Program, TASK } from '../support/contention.ts'
import type { FaultRunner, Happening, Room, Start } from '../support/fault-runner.ts'
import { essentials, type Files, filesBelow, findFileFlaws, letTimePass, putFiles } from './fault-files.ts'
import { type FaultProgram, STOP } from './fault-programs.ts'

/** A program as it runs when nothing is in its way. */
export interface Measured {
  readonly program: FaultProgram
  /** The project before. */
  readonly before: Files
  readonly after: Files
  readonly outcome: Outcome
  /** Its file-system calls, in order: name and file. */
  readonly calls: readonly string[]
}

/** Figures of many cases, and what was found. */
export interface Tally {
  kills: number
  errors: number
  /** Faults that fell on no call, because the program came to fewer of them. */
  missed: number
  stops: number
  blocks: number
  readonly flaws: string[]
}

export function newTally(): Tally {
  return { kills: 0, errors: 0, missed: 0, stops: 0, blocks: 0, flaws: [] }
}

/** More stops than this that do not end a marker are a fault themselves. */
const MAX_STOPS = 9

/** The same for a campaign, of whose programs most are killed before they have done anything. */
const MAX_TURNS = 1000

/** Runs every program without a fault. */
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
  const outcome = yield { program: program.run(room.project) }
  const after = filesBelow(room.project)
  if (outcome.exitCode !== 0) throw new Error(`${program.name}: ${outcome.stderr}`)
  const calls = outcome.calls.map((call) => call.replaceAll(room.project, ''))
  take({ program, before, after, outcome, calls })
}

/** Ends a program at one of its calls, looks at what it left, and lets it be done again. */
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
  letTimePass(room.project)

  const again = yield { program: program.run(room.project) }
  blocks += countBlock(again)
  found.add(...againFlaws(program, again))
  const settled = filesBelow(room.project)
  found.add(...findFileFlaws(before, after, settled, true), ...lossFlaws(program, before, settled))
  yield* stopUntilGone(measured, room, blocks, found)
}

/** Lets one call fail, or it and every later one of its name, and looks at what the program makes of it. */
export function* fail(measured: Measured, room: Room, fault: Start, isFollowed: boolean, tally: Tally): Happening {
  const { program, before, after } = measured
  const found = new Findings(tally, `${program.name}: ${describe(measured, fault)}`)
  putFiles(room.project, before)
  const outcome = yield { ...fault, program: program.run(room.project) }
  tally.errors += 1
  if (outcome.killed) found.add('it was killed')
  const left = filesBelow(room.project)
  found.add(...findFileFlaws(before, after, left), ...lossFlaws(program, before, left), ...outsideFlaws(room))
  const isHook = isHookProgram(measured)
  found.add(...(isHook ? hookFlaws(measured, outcome, left) : commandFlaws(measured, fault, outcome, left)))
  if (!isFollowed) return
  letTimePass(room.project)
  let blocks = countBlock(outcome)
  const again = yield { program: program.run(room.project) }
  blocks += countBlock(again)
  found.add(...againFlaws(program, again))
  yield* stopUntilGone(measured, room, blocks, found)
}

function* stopUntilGone({ program }: Measured, room: Room, blocksBefore: number, found: Findings): Happening {
  if (program.blocks === undefined) return
  let blocks = blocksBefore
  for (let stop = 0; hasMarker(room); stop++) {
    if (stop > MAX_STOPS) {
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

/** Where the next program of a campaign is ended; undefined for one that is left alone. */
export interface Blow {
  readonly at: number
  readonly fault: Fault
  /** Whether time passes before it: what was killed a moment ago might still be running, for all that others know. */
  readonly later: boolean
}

/**
 * One marker of one project, and programs on it that are killed one after the other until it is gone: at most three
 * stops are blocked in all of them together.
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
  for (let turn = 0; hasMarker(room); turn++) {
    const blow = next()
    // Once nothing is killed any more, it is the stops that must end it.
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
    if (turn > MAX_TURNS) found.add('no stop ends the marker')
    if (found.isAny) return
  }
  tally.blocks += blocks
}

/** Marker and loop guard can be read, whoever wrote them last. */
function wholeFlaws(left: Files): string[] {
  return Object.entries(left).flatMap(([name, text]) => {
    const isBroken =
      (name.endsWith(`/${MARKER}`) && parseMarker(text).fields === undefined) ||
      (name.endsWith(`/${GUARD}`) && !/^\d+\n$/.test(text))
    return isBroken ? [`${name} reads ${JSON.stringify(text)}`] : []
  })
}

class Findings {
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

function hasMarker(room: Room): boolean {
  return Object.keys(filesBelow(room.project)).includes(`specs/${TASK}/${MARKER}`)
}

/** Evidence that goes away is a fault, also where it always does. */
function lossFlaws({ keeps = [] }: FaultProgram, before: Files, left: Files): string[] {
  const unparsable = Object.entries(before).flatMap(([name, text]) =>
    name.endsWith(`/${MARKER}`) && parseMarker(text).fields === undefined ? [text] : [],
  )
  return [...keeps, ...unparsable]
    .filter((text) => !Object.values(left).includes(text))
    .map((text) => `nowhere any more: ${JSON.stringify(text.slice(0, 100))}`)
}

function outsideFlaws(room: Room): string[] {
  return [room.outside, room.home].flatMap((folder) => {
    const found = JSON.stringify(filesBelow(folder))
    return found === '{"canary":"untouched"}' ? [] : [`outside: ${found}`]
  })
}

/** 1 for an answer that blocks and is out as a whole. */
function countBlock({ stdout }: Outcome): number {
  return blockOf(stdout) === undefined ? 0 : 1
}

function blockOf(stdout: string): string | undefined {
  if (!stdout.startsWith('{') || !stdout.endsWith('}\n') || !isJsonObject(stdout)) return undefined
  const { decision, reason } = JSON.parse(stdout) as { decision?: string; reason?: string }
  return decision === 'block' ? (reason ?? '') : undefined
}

/** A block that was printed is counted on disk. */
function countFlaws({ stdout }: Outcome, left: Files): string[] {
  const reason = blockOf(stdout) ?? ''
  return [...reason.matchAll(/^Task (\S+):[\s\S]*?This is continuation (\d) of 3/gm)].flatMap(([, task, number]) => {
    const folder = `specs/${task}/`
    const claimed = Object.keys(left).some(
      (name) => name.startsWith(`${folder}${CLAIMS}/`) && name.endsWith(`.${number}`),
    )
    const guard = left[`${folder}${GUARD}`]
    if (!(`${folder}${MARKER}` in left)) return [`blocked for ${task}, whose marker is gone`]
    return claimed && Number(guard ?? number) >= Number(number) ? [] : [`block ${number} of ${task} is not on disk`]
  })
}

function answerFlaws({ stdout, exitCode, stderr }: Outcome): string[] {
  return [
    ...(exitCode === 0 ? [] : [`exit code ${exitCode}`]),
    ...(/^\{.*\}\n$/.test(stdout) && isJsonObject(stdout) ? [] : [`stdout: ${JSON.stringify(stdout)}`]),
    ...(/\n {4}at |UNCAUGHT/.test(stderr) ? [`stderr: ${stderr}`] : []),
  ]
}

/** The hook answers as ever, or allows and says why. */
function hookFlaws({ outcome: usual }: Measured, outcome: Outcome, left: Files): string[] {
  const isSilent = gist(outcome.stdout) !== gist(usual.stdout) && outcome.stderr === ''
  return [
    ...answerFlaws(outcome),
    ...countFlaws(outcome, left),
    ...(isSilent ? [`answers ${outcome.stdout.trim().slice(0, 80)} without a word on stderr`] : []),
  ]
}

/** What an answer comes to: whether it blocks, or what it tells of. How a command is spelled, and ages, may differ. */
function gist(stdout: string): string {
  if (!isJsonObject(stdout)) return stdout
  const { decision, hookSpecificOutput } = JSON.parse(stdout) as {
    decision?: string
    hookSpecificOutput?: { additionalContext?: string }
  }
  const told = hookSpecificOutput?.additionalContext?.match(/promise/g)?.length ?? 0
  return `${decision} ${told}`
}

/** What changes something: where it fails, nothing can be written. Where another call fails, something cannot be read. */
const CHANGING = /^(?:write|fsync|rename|link|unlink|mkdir|rmdir|rm|copyFile|lutimes|chmod|chown)/

/** Said beside a result. */
const NOTE = /^postflight: (?:not recorded in the journal: |.* cannot be read \(\w+\), so it was not cleared$)/

/** An artifact that may not be read is a bad one, and the run goes on with that. */
const isRefusedArtifact = ({ fault }: Start, faulted = ''): boolean =>
  /:(?:EACCES|EPERM)$/.test(fault ?? '') && /(?:step-result|made|check)\.json$/.test(faulted)

/** A command did what it was asked for, or says in one line what it could not write. */
function commandFlaws(
  { before, after, calls, outcome: usual }: Measured,
  fault: Start,
  outcome: Outcome,
  left: Files,
): string[] {
  const { exitCode, stderr } = outcome
  const faulted = outcome.faulted ?? calls[(fault.at ?? 0) - 1]
  const lines = stderr.split('\n').filter((line) => line !== '')
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

function sorted(files: Files): Files {
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
