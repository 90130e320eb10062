/**
 * A small model of stops and of their count (docs/design.md, "Stops" and "Counting continuations"), and the steps that run
 * on the model and on an implementation: stops of several agents, the CLI, plain bash, time, and kills at any file-system
 * call.
 */

import {
  existsSync,
  lstatSync,
  lutimesSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { fileIdentity } from '../../../src/io/fs/file-identity.ts'

export const TASKS = ['007_x', '008_y'] as const
export type Task = (typeof TASKS)[number]
export const SESSIONS = ['session-1', 'session-2'] as const
const HOUR_MS = 3_600_000

/** A stop of an agent. */
export interface Stop {
  readonly event: 'SubagentStop' | 'Stop'
  readonly session: string
  /** The agent of a SubagentStop; undefined for an older client, which does not name it. */
  readonly agent: string | undefined
  readonly background: boolean
}

/** The call at which a program is killed, counted from 1. */
export interface Kill {
  readonly at: number
  readonly when: 'before' | 'half' | 'after'
}

/** The hook's answer: the tasks for which it blocked, with their counts. */
export type StopResult = { readonly blocks: Readonly<Partial<Record<Task, number>>> } | 'killed'
/** The result of a command. `code`: the error's code, or `done`. */
export type CommandResult = { readonly code: string; readonly id: string | undefined } | 'killed'

export interface Identity {
  readonly session: string
  readonly agent: string | undefined
}

/** An implementation: the sources in this process, or the built files as processes. */
export interface Real {
  readonly root: string
  /** The time: virtual time, if `pass` exists. */
  nowMs(): number
  /** Lets time pass; undefined where that is not possible. */
  readonly pass: ((ms: number) => void) | undefined
  stop(stop: Stop, kill: Kill | undefined): Promise<StopResult>
  sessionStart(session: string): Promise<void>
  toolUse(command: string, output: string, identity: Identity, kill: Kill | undefined): Promise<'done' | 'killed'>
  command(words: readonly string[], identity: Identity, kill: Kill | undefined): Promise<CommandResult>
  /** Figures for the log. */
  count: Record<string, number>
}

/** A marker in the model. */
interface Marker {
  readonly id: string | undefined
  readonly session: string | undefined
  readonly agent: string | undefined
  readonly operation: string | undefined
  readonly bypassed: boolean
  readonly parsed: boolean
  readonly hasSteps: boolean
  /** The identity of its file. */
  readonly file: string
  readonly promisedMs: number
  /** The whole text, which is evidence. */
  readonly text: string
}

interface Folder {
  marker: Marker | undefined
  guard: number | 'garbled' | undefined
  /** The claims: the slot that was counted under each identity. */
  claims: { readonly key: string; readonly file: string; readonly slot: number }[]
  /**
   * The blocks since the last full reset, counted independently of claims and loop guard: by id, by file, and of the
   * whole time that the loop guard existed (`chain`).
   */
  blocks: Record<string, number>
  /** Texts that the folder must contain, in files of any name. */
  abandoned: string[]
  unparsed: string[]
}

export type Model = Record<Task, Folder>

export function newModel(): Model {
  const folder = (): Folder => ({
    marker: undefined,
    guard: undefined,
    claims: [],
    blocks: {},
    abandoned: [],
    unparsed: [],
  })
  return { '007_x': folder(), '008_y': folder() }
}

const MARKER = '.postflight-pending'
const GUARD = '.postflight-loop-guard'
const ABANDONED = '.postflight-abandoned'
const CLAIMS = '.postflight-claims'
const isId = (text: unknown): text is string => typeof text === 'string' && /^pf_[A-Za-z0-9]{12}$/.test(text)
const keyOf = (marker: Marker): string => marker.id ?? marker.file

/** The number of continuations spent (docs/design.md, "Counting continuations"). */
function spentOf({ marker, guard, claims }: Folder): number {
  if (marker === undefined) return 0
  const counted = claims.filter(
    (claim) => guard !== undefined || claim.key === keyOf(marker) || claim.file === marker.file,
  )
  return Math.min(3, Math.max(typeof guard === 'number' ? guard : 0, ...counted.map((claim) => claim.slot), 0))
}

/** The expected result of a stop (docs/design.md, "Stops", row by row). */
function expected(folder: Folder, stop: Stop, nowMs: number): 'bypass' | 'block' | 'cap' | 'nothing' {
  const { marker } = folder
  if (marker === undefined) return 'nothing'
  if (marker.bypassed) return 'bypass'
  if (marker.session !== undefined && marker.session !== stop.session) return 'nothing'
  if (marker.session === undefined && stop.event === 'Stop') return 'nothing'
  if (marker.session === undefined && nowMs - marker.promisedMs > 24 * HOUR_MS) return 'nothing'
  const stopping = stop.event === 'Stop' ? 'main' : stop.agent
  if (marker.agent !== undefined && marker.agent !== stopping) return 'nothing'
  if (stop.event === 'Stop' && stop.background) return 'nothing'
  return spentOf(folder) >= 3 ? 'cap' : 'block'
}

function end(folder: Folder): void {
  folder.guard = undefined
  folder.claims = []
  folder.blocks = {}
}

function countBlock(folder: Folder, marker: Marker): void {
  for (const name of ['chain', `file ${marker.file}`, ...(marker.id === undefined ? [] : [`id ${marker.id}`])]) {
    folder.blocks[name] = (folder.blocks[name] ?? 0) + 1
  }
}

// ---- files on the disk ----

const pathOf = (real: Real, task: Task, name: string): string => join(real.root, 'specs', task, name)

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function readMarker(real: Real, task: Task): Marker | undefined {
  const file = pathOf(real, task, MARKER)
  const text = readText(file)
  if (text === undefined) return undefined
  let fields: Record<string, unknown> | undefined
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) fields = value as typeof fields
  } catch {
    // Any text makes a marker.
  }
  const string = (name: string): string | undefined => (fields?.[name] as string | undefined) || undefined
  const created = string('created')
  return {
    id: isId(fields?.id) ? fields.id : undefined,
    session: string('cc_session_id'),
    agent: string('agent_id'),
    operation: string('operation'),
    bypassed: fields?.stop_hook_active === true,
    parsed: fields !== undefined,
    hasSteps: Array.isArray(fields?.steps),
    file: fileIdentity(file) ?? 'none',
    promisedMs: created === undefined ? statSync(file).mtimeMs : Date.parse(created),
    text,
  }
}

function readGuard(real: Real, task: Task): Folder['guard'] {
  const text = readText(pathOf(real, task, GUARD))
  if (text === undefined) return undefined
  return /^\d+$/.test(text.trim()) ? Math.min(3, Number(text)) : 'garbled'
}

function readClaims(real: Real, task: Task): Folder['claims'] {
  const folder = pathOf(real, task, CLAIMS)
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names.flatMap((name) => {
    const match = /^(.+)\.([1-9])$/.exec(name)
    if (match === null) return []
    return [{ key: String(match[1]), slot: Number(match[2]), file: (readText(join(folder, name)) ?? '').trim() }]
  })
}

/** Reads the state after a kill into the model. It may be any intermediate state, which the caller checks. */
function resync(model: Model, real: Real, task: Task): void {
  const folder = model[task]
  folder.marker = readMarker(real, task)
  folder.guard = readGuard(real, task)
  folder.claims = readClaims(real, task)
}

/** Makes the lock and the claims of a killed process old, so that they no longer count as in use. */
function ageLitter(real: Real): void {
  const old = new Date(Date.now() - 60_000)
  for (const task of TASKS) {
    const folder = join(real.root, 'specs', task)
    const claims = readClaims(real, task).map(({ key, slot }) => join(CLAIMS, `${key}.${slot}`))
    const locks = readdirSync(folder).filter((name) => name.startsWith('.postflight-lock'))
    for (const name of [...locks, ...claims]) {
      const file = join(folder, name)
      const stats = lstatSync(file, { throwIfNoEntry: false })
      if (stats !== undefined && stats.mtimeMs > old.getTime()) lutimesSync(file, old, old)
    }
  }
  const journal = join(real.root, 'specs', '.postflight', '.postflight-lock')
  if (existsSync(journal)) utimesSync(journal, old, old)
}

// ---- checks after every step ----

function fail(message: string, details: object): never {
  throw new Error(`${message}\n${JSON.stringify(details, null, 2)}`)
}

function check(model: Model, real: Real, what: string): void {
  for (const task of TASKS) {
    const folder = model[task]
    const seen = readMarker(real, task)
    const say = (message: string): never => fail(`${what}: ${task}: ${message}`, { folder, seen })
    for (const [whose, blocks] of Object.entries(folder.blocks)) if (blocks > 3) say(`${blocks} blocks of ${whose}`)
    if (folder.guard === undefined) delete folder.blocks.chain
    if ((seen === undefined) !== (folder.marker === undefined))
      say('the marker exists only in the model, or only on the disk')
    if (seen !== undefined && !isDeepStrictEqual({ ...seen, text: '' }, { ...folder.marker, text: '' })) {
      say('the marker differs from the model')
    }
    const guard = readGuard(real, task)
    if (guard !== folder.guard) say(`the loop guard is ${guard}, not ${folder.guard}`)
    const evidence = everyText(real, task)
    for (const text of [...folder.abandoned, ...folder.unparsed]) {
      if (!evidence.some((other) => other.includes(text))) say(`lost: ${text}`)
    }
  }
}

function everyText(real: Real, task: Task): string[] {
  const folder = join(real.root, 'specs', task)
  return readdirSync(folder)
    .filter((name) => name.startsWith('.postflight-') && lstatSync(join(folder, name)).isFile())
    .map((name) => readText(join(folder, name)) ?? '')
}

/** Checks the state after a kill. `resets`: the program was to end or replace the marker. */
function afterKill(model: Model, real: Real, task: Task, what: string, mayCount: boolean, resets: boolean): void {
  const folder = model[task]
  const before = { ...folder, spent: spentOf(folder) }
  resync(model, real, task)
  const say = (message: string): never => fail(`${what}, killed: ${task}: ${message}`, { before, after: folder })
  const after = spentOf(folder)
  const { marker } = folder
  if (marker === undefined) {
    if (before.marker !== undefined && !resets) say('the marker is gone')
    // Without a marker there must be no count, which would count for the next one.
    if (before.marker !== undefined && folder.guard !== undefined) say('the count of a marker that is gone is left')
    if (folder.guard === undefined) folder.blocks = {}
    return
  }
  const isSame = before.marker !== undefined && (marker.text === before.marker.text || !resets)
  if (isSame) {
    if (after !== before.spent && !(mayCount && after === before.spent + 1)) {
      say(`${before.spent} were spent before, ${after} after`)
    }
    return
  }
  if (!resets) say('a marker appeared from nowhere')
  if (after !== 0) say(`a new promise begins with ${after} spent`)
  folder.blocks = {}
}

// ---- the steps ----

type Step = fc.AsyncCommand<Model, Real>

class Act implements Step {
  readonly words: string
  private readonly act: (model: Model, real: Real) => Promise<void>
  private readonly possible: (model: Model) => boolean

  constructor(
    words: string,
    act: (model: Model, real: Real) => Promise<void>,
    possible: (model: Model) => boolean = () => true,
  ) {
    this.words = words
    this.act = act
    this.possible = possible
  }

  check(model: Readonly<Model>): boolean {
    return this.possible(model)
  }

  async run(model: Model, real: Real): Promise<void> {
    const name = this.words.split(' ')[0] ?? ''
    real.count[name] = (real.count[name] ?? 0) + 1
    await this.act(model, real)
    check(model, real, this.words)
  }

  toString(): string {
    return this.words
  }
}

function stopAct(stop: Stop, kill: Kill | undefined): Act {
  const who = `${stop.event} ${stop.session} ${stop.agent ?? '?'}${stop.background ? ' background' : ''}`
  const words = `stop ${who}${killWords(kill)}`
  return new Act(words, async (model, real) => {
    const nowMs = real.nowMs()
    const due = Object.fromEntries(TASKS.map((task) => [task, expected(model[task], stop, nowMs)])) as Record<
      Task,
      ReturnType<typeof expected>
    >
    const result = await real.stop(stop, kill)
    if (result === 'killed') {
      ageLitter(real)
      for (const task of TASKS) {
        const text = model[task].marker?.text
        afterKill(model, real, task, words, due[task] === 'block', due[task] === 'bypass' || due[task] === 'cap')
        if (due[task] === 'cap' && model[task].marker === undefined && text !== undefined && text !== '') {
          model[task].abandoned.push(text)
        }
      }
      return
    }
    for (const task of TASKS) {
      const folder = model[task]
      const { marker } = folder
      const given = result.blocks[task]
      const say = (message: string): never => fail(`${words}: ${task}: ${message}`, { folder, due: due[task], result })
      if (due[task] !== 'block' && given !== undefined) say('was blocked')
      if (marker === undefined) continue
      switch (due[task]) {
        case 'block': {
          const count = spentOf(folder) + 1
          if (given !== count) say(`should be continuation ${count}`)
          countBlock(folder, marker)
          const { guard } = folder
          const counting = folder.claims.filter(
            (claim) => guard !== undefined || claim.key === keyOf(marker) || claim.file === marker.file,
          )
          folder.claims = [...counting, { key: keyOf(marker), file: marker.file, slot: count }]
          folder.guard = count
          break
        }
        case 'cap':
          // An empty marker has no text to keep.
          if (marker.text !== '') folder.abandoned.push(marker.text)
          folder.marker = undefined
          end(folder)
          break
        case 'bypass':
          folder.marker = undefined
          end(folder)
          break
        case 'nothing':
          break
      }
    }
  })
}

const killWords = (kill: Kill | undefined): string => (kill === undefined ? '' : ` killed ${kill.when} call ${kill.at}`)

/** A rewrite by postflight-guard: the count is carried over to the rewritten marker. */
function rewritten(folder: Folder, marker: Marker): void {
  const spent = spentOf(folder)
  folder.marker = marker
  if (spent === 0) return
  if (typeof folder.guard !== 'number') folder.guard = spent
  const isCounted = folder.claims.some((claim) => claim.key === keyOf(marker) && claim.slot >= spent)
  if (!isCounted) folder.claims.push({ key: keyOf(marker), file: marker.file, slot: spent })
}

/** Notes a text that does not parse: it must be kept when postflight-guard replaces or removes it. */
function noteUnparsed(folder: Folder, marker: Marker | undefined): void {
  if (marker !== undefined && !marker.parsed && marker.text !== '') folder.unparsed.push(marker.text)
}

function cliAct(
  name: 'create' | 'force' | 'clear' | 'step' | 'bypass' | 'adopt' | 'inspect' | 'explain',
  task: Task,
  identity: Identity,
  operation: string,
  kill: Kill | undefined,
): Act {
  const spoken = `${name} ${task} ${identity.session} ${identity.agent ?? '?'} ${operation}${killWords(kill)}`
  const reason = `reason-${Math.random().toString(36).slice(2)}`
  const commandWords: Record<typeof name, readonly string[]> = {
    create: ['create', task, '--operation', operation, '--reason', reason, '--step', 'one'],
    force: ['create', task, '--operation', operation, '--reason', reason, '--force'],
    clear: ['clear', task],
    step: ['step', task, '1'],
    bypass: ['bypass', task],
    adopt: ['adopt', task],
    inspect: ['inspect', task],
    explain: ['explain'],
  }
  return new Act(spoken, async (model, real) => {
    const folder = model[task]
    const { marker } = folder
    const abandoned = readText(pathOf(real, task, ABANDONED))
    const revives = name === 'adopt' && marker === undefined && abandoned !== undefined
    const isForeign = marker !== undefined && marker.session !== identity.session
    const isCreate = name === 'create' || name === 'force'
    const renews = isCreate && marker?.parsed === true && !isForeign && marker.operation === operation
    const replaces = isCreate && !renews && (name === 'force' || !isForeign)
    const resets = replaces || name === 'clear' || revives
    const result = await real.command(commandWords[name], identity, kill)
    if (result === 'killed') {
      ageLitter(real)
      afterKill(model, real, task, spoken, false, resets)
      const isGone = model[task].marker?.text !== marker?.text
      if (isGone) noteUnparsed(folder, marker)
      // `clear` and `adopt` take abandoned markers, at whatever point they were killed.
      if (name === 'clear' || revives)
        takeAbandoned(folder, name === 'clear' ? folder.abandoned : [abandoned], real, task)
      return
    }
    const codes: Record<typeof name, string> = {
      create: isForeign ? 'marker-of-other-session' : 'done',
      force: 'done',
      clear: 'done',
      step: marker === undefined ? 'marker-none' : !marker.parsed || !marker.hasSteps ? 'steps-none' : 'done',
      bypass: marker === undefined ? 'marker-none' : 'done',
      adopt: marker === undefined && !revives ? 'marker-none' : 'done',
      inspect: 'done',
      explain: 'done',
    }
    if (result.code !== codes[name]) fail(`${spoken}: ${result.code}, not ${codes[name]}`, { folder, result })
    if (result.code !== 'done' || name === 'inspect' || name === 'explain') return
    const now = readMarker(real, task)
    if (name === 'clear') {
      noteUnparsed(folder, marker)
      takeAbandoned(folder, folder.abandoned)
      folder.marker = undefined
      end(folder)
      return
    }
    if (now === undefined) return fail(`${spoken}: no marker afterwards`, { folder })
    if (resets) {
      noteUnparsed(folder, marker)
      if (revives) takeAbandoned(folder, [abandoned])
      end(folder)
      folder.marker = now
    } else {
      noteUnparsed(folder, marker)
      rewritten(folder, now)
    }
    const owner = { session: now.session, agent: now.agent }
    if (['create', 'force', 'adopt'].includes(name) && !isDeepStrictEqual(owner, { ...identity })) {
      fail(`${spoken}: another owner`, { owner, identity })
    }
    if (now.bypassed !== (name === 'bypass' || (name === 'step' && marker?.bypassed === true))) {
      fail(`${spoken}: bypassed ${now.bypassed}`, { now })
    }
  })
}

/**
 * Removes abandoned markers from the model. A copy of a text that does not parse must stay. After a kill (`real` is given)
 * only those that are gone from the disk are removed.
 */
function takeAbandoned(folder: Folder, texts: readonly (string | undefined)[], real?: Real, task?: Task): void {
  for (const text of [...texts]) {
    if (text === undefined || text === '') continue
    const isThere =
      real !== undefined && task !== undefined && everyText(real, task).some((other) => other.includes(text))
    if (isThere) continue
    folder.abandoned.splice(folder.abandoned.indexOf(text), 1)
    if (!text.startsWith('{')) folder.unparsed.push(text)
  }
}

function toolUseAct(task: Task, command: string, identity: Identity, kill: Kill | undefined): Act {
  const words = `tool ${command} ${task} ${identity.session} ${identity.agent ?? 'main'}${killWords(kill)}`
  return new Act(words, async (model, real) => {
    const folder = model[task]
    const { marker } = folder
    const mayClaim =
      marker?.id !== undefined &&
      marker.agent === undefined &&
      (marker.session === undefined ? /create|adopt/.test(command) : marker.session === identity.session)
    const result = await real.toolUse(`postflight ${command} 7`, `created x  ${marker?.id ?? 'none'}`, identity, kill)
    if (result === 'killed') {
      ageLitter(real)
      afterKill(model, real, task, words, false, false)
      return
    }
    if (!mayClaim || marker === undefined) return
    const now = readMarker(real, task)
    if (now === undefined) return fail(`${words}: no marker afterwards`, { folder })
    const owner = { session: now.session, agent: now.agent }
    const claimed = { session: identity.session, agent: identity.agent ?? 'main' }
    if (!isDeepStrictEqual(owner, claimed)) fail(`${words}: not claimed`, { owner, claimed })
    rewritten(folder, now)
  })
}

/** Texts that skills write with plain bash: the original marker, one with an owner, not JSON, an empty one. */
type BashText = 'seed' | 'owned' | 'other' | 'garbage' | 'empty' | 'same id'

let writes = 0

function bashText(kind: BashText, marker: Marker | undefined): string {
  writes += 1
  const id = `pf_${String(writes).padStart(12, '0')}`
  const fields = { skill: 'k', operation: 'implement', reason: `bash ${writes}`, stop_hook_active: false }
  switch (kind) {
    case 'seed':
      return JSON.stringify(fields)
    case 'owned':
      return JSON.stringify({ ...fields, id, cc_session_id: SESSIONS[0] })
    case 'other':
      return JSON.stringify({ ...fields, id, cc_session_id: SESSIONS[1], agent_id: 'a1' })
    case 'garbage':
      return `session_id=${writes}\nskill=`
    case 'empty':
      return ''
    case 'same id':
      return JSON.stringify({
        ...fields,
        ...(marker?.id !== undefined && { id: marker.id }),
        cc_session_id: SESSIONS[0],
      })
  }
}

const everSeen = new Set<string>()

/** Plain bash writes a marker: into the existing file (`cat >`), or as a new file that replaces it (`mv`). */
function bashWrite(how: 'cat' | 'mv', kind: BashText, task: Task): Act {
  return new Act(`${how} ${kind} ${task}`, async (model, real) => {
    const folder = model[task]
    const before = folder.marker
    const text = bashText(kind, before)
    const target = pathOf(real, task, MARKER)
    const isNew = how === 'mv' || before === undefined
    const file = how === 'mv' ? `${target}.new` : target
    do {
      if (isNew) rmSync(file, { force: true })
      writeFileSync(file, text)
      // A file that was created in the same tick as a removed one can have its inode and its birth time.
    } while (isNew && everSeen.has(fileIdentity(file) ?? '') && pause())
    const time = real.nowMs() / 1000
    utimesSync(file, time, time)
    if (how === 'mv') renameSync(file, target)
    const marker = readMarker(real, task)
    if (marker === undefined) return
    everSeen.add(marker.file)
    folder.marker = marker
  })
}

function pause(): true {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
  return true
}

function bashAct(name: 'rm marker' | 'rm guard' | 'rm both' | 'touch' | `garble ${string}`, task: Task): Act {
  return new Act(`${JSON.stringify(name)} ${task}`, async (model, real) => {
    const folder = model[task]
    const marker = pathOf(real, task, MARKER)
    const guard = pathOf(real, task, GUARD)
    if (name === 'rm marker' || name === 'rm both') {
      rmSync(marker, { force: true })
      folder.marker = undefined
    }
    if (name === 'rm guard' || name === 'rm both') {
      rmSync(guard, { force: true })
      folder.guard = undefined
    }
    if (name === 'touch' && folder.marker !== undefined) {
      const time = real.nowMs() / 1000
      utimesSync(marker, time, time)
      folder.marker = readMarker(real, task)
    }
    if (name.startsWith('garble ') && folder.guard !== undefined) {
      writeFileSync(guard, name.slice(7))
      folder.guard = readGuard(real, task)
    }
    if (folder.marker === undefined && folder.guard === undefined) folder.blocks = {}
  })
}

const sessionAct = (session: string): Act => new Act(`start ${session}`, (_, real) => real.sessionStart(session))

const passAct = (hours: number): Act =>
  new Act(`pass ${hours} h`, async (_, real) => {
    real.pass?.(hours * HOUR_MS)
  })

// ---- generated values ----

const anyTask = fc.constantFrom<Task>('007_x', '007_x', '007_x', '008_y')
const anySession = fc.constantFrom(SESSIONS[0], SESSIONS[0], SESSIONS[0], SESSIONS[1])
const anyAgent = fc.constantFrom('a1', 'a1', 'a2', undefined)
const anyOperation = fc.constantFrom('implement', 'implement', 'research')

function killsUpTo(calls: number): fc.Arbitrary<Kill | undefined> {
  return fc.option(
    fc.record({ at: fc.integer({ min: 1, max: calls }), when: fc.constantFrom('before', 'half', 'after') }),
    { nil: undefined, freq: 3 },
  )
}

/** Sequences of all kinds of steps. */
export function anySteps(maxSteps: number, withTime: boolean): fc.Arbitrary<Iterable<Step>> {
  const stop = fc
    .record({
      event: fc.constantFrom('SubagentStop', 'SubagentStop', 'Stop'),
      session: anySession,
      agent: anyAgent,
      background: fc.constantFrom(false, false, false, true),
    })
    .map((one): Stop => ({ ...one, agent: one.event === 'Stop' ? undefined : one.agent }))
  const identity = fc.record({ session: anySession, agent: fc.constantFrom('a1', 'main', undefined) })
  const cli = (...names: readonly Parameters<typeof cliAct>[0][]): fc.Arbitrary<Step> =>
    fc
      .tuple(fc.constantFrom(...names), anyTask, identity, anyOperation, killsUpTo(40))
      .map((args): Step => cliAct(...args))
  const bashKind = fc.constantFrom<BashText>('seed', 'seed', 'owned', 'other', 'garbage', 'empty', 'same id')
  const steps: fc.Arbitrary<Step>[] = [
    fc.tuple(stop, killsUpTo(60)).map((args): Step => stopAct(...args)),
    fc.tuple(stop, fc.constant(undefined)).map((args): Step => stopAct(...args)),
    // Stops of the agents to which most markers here belong.
    fc
      .constantFrom<Stop>(
        { event: 'SubagentStop', session: SESSIONS[0], agent: 'a1', background: false },
        { event: 'SubagentStop', session: SESSIONS[0], agent: 'a1', background: false },
        { event: 'Stop', session: SESSIONS[0], agent: undefined, background: false },
      )
      .map((one): Step => stopAct(one, undefined)),
    fc
      .tuple(
        fc.constant<Stop>({ event: 'SubagentStop', session: SESSIONS[0], agent: 'a1', background: false }),
        killsUpTo(30),
      )
      .map((args): Step => stopAct(...args)),
    cli('create', 'create', 'step', 'adopt', 'inspect', 'explain'),
    cli('force', 'clear', 'bypass', 'step', 'adopt'),
    fc
      .tuple(anyTask, fc.constantFrom('create', 'inspect'), identity, killsUpTo(40))
      .map((args): Step => toolUseAct(...args)),
    fc.tuple(fc.constantFrom('cat' as const, 'mv' as const), bashKind, anyTask).map((args): Step => bashWrite(...args)),
    fc
      .tuple(
        fc.constantFrom(
          'rm marker' as const,
          'rm guard' as const,
          'rm guard' as const,
          'rm both' as const,
          'touch' as const,
          'garble ' as const,
          'garble x' as const,
          'garble {}' as const,
          'garble 0\n' as const,
        ),
        anyTask,
      )
      .map((args): Step => bashAct(...args)),
    anySession.map((session): Step => sessionAct(session)),
    ...(withTime ? [fc.constantFrom(1, 25).map((hours): Step => passAct(hours))] : []),
  ]
  return fc.commands(steps, { maxCommands: maxSteps, size: 'max' })
}
