/** Power cuts: what a program had not synced is lost, in part or as a whole, at each of its calls. */

import type { Program } from '../support/contention.ts'
import { type Content, Disk, type Fate, type Remains } from '../support/disk.ts'
import type { Happening, Room } from '../support/fault-runner.ts'
import { filesBelow } from '../support/files.ts'
import { randomOf } from '../support/scheduler.ts'
import {
  answerFlaws,
  blocksIn,
  countBlock,
  countFlaws,
  Findings,
  hasMarker,
  lossFlaws,
  MAX_STOPS,
  type Measured,
  runAgain,
  sorted,
  stopUntilGone,
  type Tally,
} from './fault-cases.ts'
import { essentials, type Files, findCutFlaws, isRunFile, letTimePass, putFiles } from './fault-files.ts'
import { OTHERS_ON_A_MARKER, STOP } from './fault-programs.ts'

const CONTENTS: readonly Content[] = ['none', 'half', 'zeros', 'before', 'all']

/** Of all remains of a program, the next run is tried with every one of so many. */
const FOLLOW_EVERY = 2
const RANDOM_FATES = 8

export function* everyCut(
  programs: readonly Measured[],
  seed: number,
  tally: Tally,
): Iterable<(room: Room) => Happening> {
  for (const measured of programs) yield (room) => cuts(measured, room, seed, tally)
}

function* cuts(measured: Measured, room: Room, seed: number, tally: Tally): Happening {
  const { program, before } = measured
  putFiles(room.project, before)
  const disk = new Disk(room.project, room.kept)
  const outcome = yield { program: program.run(room.project), isWatched: true }
  const after = filesBelow(room.project)
  const random = randomOf(seed)
  const seen = new Set<string>()
  let next = 0
  for (let call = 0; call <= outcome.calls.length; call++) {
    for (; outcome.changes[next]?.at === call; next++) disk.apply(outcome.changes[next] as (typeof outcome.changes)[0])
    const hasEnded = call === outcome.calls.length
    const hasAnswered = outcome.calls.slice(0, call).some((one) => one.endsWith('<stdout>'))
    const isChange = call === 0 || outcome.changes[next - 1]?.at === call
    if (!isChange && !hasEnded && !outcome.calls[call - 1]?.endsWith('<stdout>')) continue
    for (const fate of fates(disk.pending, random)) {
      const remains = disk.cut(fate)
      const left = remains.texts
      tally.cuts += 1
      const key = `${hasEnded} ${hasAnswered} ${JSON.stringify(remains.texts)}`
      if (seen.has(key)) continue
      seen.add(key)
      tally.remains += 1
      const said = hasAnswered ? outcome : undefined
      const where = `seed ${seed}: ${program.name}: cut after ${call} (${measured.calls[call - 1]}), lost: ${remains.lost}`
      const found = new Findings(tally, where)
      found.add(...findCutFlaws(before, after, left), ...lossFlaws(program, before, left))
      if (said !== undefined) {
        tally.blocks += blocksIn(said.stdout).length
        found.add(...countFlaws(said, left, false))
      }
      if (hasEnded && outcome.exitCode === 0) found.add(...doneFlaws(before, after, left))
      if (tally.remains % FOLLOW_EVERY !== 0) continue
      remains.restore()
      yield* goOn(measured, room, { hasEnded, blocks: said === undefined ? 0 : countBlock(said) }, found)
    }
  }
}

function* goOn(
  measured: Measured,
  room: Room,
  before: { readonly hasEnded: boolean; readonly blocks: number },
  found: Findings,
): Happening {
  const { program } = measured
  const again = yield* runAgain(program, room, found)
  const [least, most] = program.blocks ?? [0, 0]
  // A power cut in the middle may cost blocks, as when a loop guard comes back that was being removed.
  const blocks = program.blocks && ([before.hasEnded ? least : 0, most] as const)
  yield* stopUntilGone({ ...measured, program: { ...program, blocks } }, room, before.blocks + again, found)
}

/** Ways in which changes of names can survive: none, all, one alone, all but one, some; with each kind of content. */
function* fates(pending: number, chance: () => number): Iterable<Fate> {
  for (const content of CONTENTS) yield { name: () => true, content: () => content }
  const some = (): Content => CONTENTS[Math.floor(chance() * CONTENTS.length)] as Content
  if (pending === 0) return
  yield { name: () => false, content: some }
  for (let one = 0; one < pending && pending > 1; one++) {
    yield { name: (index) => index === one, content: some }
    yield { name: (index) => index !== one, content: some }
  }
  if (pending > 2)
    for (let count = 0; count < RANDOM_FATES; count++) yield { name: () => chance() < 0.5, content: some }
}

/** Checks that what a program did before it ended well is on the disk. */
function doneFlaws(before: Files, after: Files, left: Files): string[] {
  const known = Object.values(before).join('\n')
  // The next process removes the id and the run file of a run that has ended, and the lock of checks.
  const mayComeBack = (name: string): boolean =>
    isRunFile(name) || /\/(?:workflow\/id|\.postflight-checking)$/.test(name)
  const [wanted, got] = [after, left].map((files) =>
    JSON.stringify(Object.entries(sorted(essentials(files, known))).filter(([name]) => !mayComeBack(name))),
  )
  return wanted === got ? [] : [`ended well, but not on disk: ${got} instead of ${wanted}`]
}

/**
 * Stops and other programs on one marker, some of them with a power cut at one of their calls, until the marker is gone. What
 * no program synced is still uncertain when the next one runs.
 */
export function* randomCuts(
  measured: Measured,
  count: number,
  seed: number,
  tally: Tally,
  cannotSyncFolders = false,
): Iterable<(room: Room) => Happening> {
  for (let index = 0; index < count; index++) {
    yield (room) => cutsInTurn(measured, room, seed + index, tally, cannotSyncFolders)
  }
}

const MAX_PROGRAMS = 30

function* cutsInTurn(
  { before }: Measured,
  room: Room,
  seed: number,
  tally: Tally,
  cannotSyncFolders: boolean,
): Happening {
  const random = randomOf(seed)
  const below = (limit: number): number => Math.floor(random() * limit)
  const programs = seed % 2 === 0 ? [STOP] : [STOP, STOP, ...OTHERS_ON_A_MARKER]
  putFiles(room.project, before)
  let disk = new Disk(room.project, room.kept, cannotSyncFolders)
  const told: string[] = []
  let blocks = 0
  let stops = 0
  for (let turn = 0; hasMarker(room); turn++) {
    const isCalm = turn >= MAX_PROGRAMS
    const program = isCalm ? STOP : (programs[below(programs.length)] as (root: string) => Program)
    letTimePass(room.project)
    const outcome = yield { program: program(room.project), isWatched: true, cannotSyncFolders }
    const at = isCalm || random() < 0.4 ? undefined : below(outcome.calls.length + 1)
    for (const change of outcome.changes) if (change.at <= (at ?? change.at)) disk.apply(change)
    const hasAnswered = at === undefined || outcome.calls.slice(0, at).some((call) => call.endsWith('<stdout>'))
    if (hasAnswered) blocks += countBlock(outcome)
    told.push(
      `${program === STOP ? 'stop' : `other ${programs.indexOf(program)}`}${countBlock(outcome) > 0 ? ' blocks' : ''}`,
    )
    const found = new Findings(tally, `seed ${seed}: ${told.slice(-12).join('; ')}`)
    if (at !== undefined) {
      const remains = cutAtRandom(disk, random, cannotSyncFolders)
      tally.cuts += 1
      told.push(`cut after ${at} (${outcome.calls[at - 1]}), lost: ${remains.lost}`)
      remains.restore()
      disk = new Disk(room.project, room.kept, cannotSyncFolders)
    }
    if (program === STOP) tally.stops += 1
    if (program === STOP && at === undefined) found.add(...answerFlaws(outcome))
    if (blocks > 3) found.add(`${blocks} blocks of one marker`)
    if (isCalm) stops += 1
    if (stops >= MAX_STOPS && hasMarker(room)) found.add('no stop ends the marker')
    if (found.isAny) return
  }
  tally.blocks += blocks
}

function cutAtRandom(disk: Disk, random: () => number, inOrder: boolean): Remains {
  const share = [0, 0.5, 1][Math.floor(random() * 3)] as number
  return disk.cut({
    name: (index, count) => (inOrder ? index < share * count : random() < share),
    content: () => CONTENTS[Math.floor(random() * CONTENTS.length)] as Content,
  })
}
