/**
 * A small model of stops and of their count (docs/design.md, "Stops" and "Counting blocked stops"), and the steps that run
 * on the model and on an implementation: stops of several agents, the CLI, plain bash, time, and kills at any file-system
 * call.
 */

import fs from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { fileIdentity } from '../../../src/disk/file-facts.ts'
import { ABANDONED, CLAIMS, GUARD, MARKER } from '../support/contention.ts'
import { isJsonObject, textAt } from '../support/files.ts'
import { KILLS, type Kill } from '../support/instrument.ts'
import { letTimePass } from './fault-files.ts'

export const TASKS = ['007_x', '008_y'] as const
export type Task = (typeof TASKS)[number]
export const SESSIONS = ['session-1', 'session-2'] as const
const HOUR_MS = 3_600_000

export interface Stop {
  readonly event: 'SubagentStop' | 'Stop'
  readonly session: string
  /** The agent of a SubagentStop; undefined for an older client, which does not name it. */
  readonly agent: string | undefined
  readonly background: boolean
  readonly prompt: string
}

/** The call at which a program is killed, counted from 1. */
export type PlannedKill = { readonly at: number; readonly fault: Kill }

/** The hook's answer: the tasks for which it blocked, with their counts. */
export type StopResult = { readonly blocks: Readonly<Partial<Record<Task, number>>> } | 'killed'
export type CommandResult = { readonly code: string; readonly id: string | undefined } | 'killed'

export type Identity = { readonly session: string; readonly agent: string | undefined }

export type ToolUse = { readonly command: string; readonly output: string; readonly prompt: string }

/** An implementation: the sources in this process, or the built files as processes. */
export interface Real {
  readonly root: string
  /** The time: virtual time, if `pass` exists. */
  nowMs(): number
  /** Lets time pass; undefined where that is not possible. */
  readonly pass?: ((ms: number) => void) | undefined
  stop(stop: Stop, kill: PlannedKill | undefined): Promise<StopResult>
  sessionStart(session: string): Promise<void>
  toolUse(use: ToolUse, identity: Identity, kill: PlannedKill | undefined): Promise<'done' | 'killed'>
  command(words: readonly string[], identity: Identity, kill: PlannedKill | undefined): Promise<CommandResult>
  count: Record<string, number>
}

/** The `wait` of a marker, as the file holds it. */
type WaitFields = { readonly count: number; readonly prompt_id?: string; readonly last_prompt_id?: string }

type Marker = NonNullable<ReturnType<typeof readMarker>>

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
  /** The id of a marker whose giving up was killed: the note that it is spent may be on disk. */
  maybeGivenUp: string | undefined
}

export type Model = Record<Task, Folder>

export function newModel(): Model {
  const nothing = { marker: undefined, guard: undefined, maybeGivenUp: undefined }
  const folder = (): Folder => ({ ...nothing, claims: [], blocks: {}, abandoned: [], unparsed: [] })
  return { '007_x': folder(), '008_y': folder() }
}

const isId = (text: unknown): text is string => typeof text === 'string' && /^pf_[A-Za-z0-9]{12}$/.test(text)
const keyOf = (marker: Marker): string => marker.id ?? marker.file

/** The number of continuations spent (docs/design.md, "Counting blocked stops"). */
function spentOf(folder: Folder): number {
  const { marker, guard } = folder
  if (marker === undefined) return 0
  const slots = countedClaims(folder, marker).map((claim) => claim.slot)
  return Math.min(3, Math.max(typeof guard === 'number' ? guard : 0, ...slots, 0))
}

const countedClaims = ({ guard, claims }: Folder, marker: Marker): Folder['claims'] =>
  claims.filter((claim) => guard !== undefined || claim.key === keyOf(marker) || claim.file === marker.file)

type Due = 'bypass' | 'block' | 'cap' | 'wait' | 'nothing'

/** The expected result of a stop (docs/protocol.md, "What the hook answers", row by row). */
function expected(folder: Folder, stop: Stop, nowMs: number): Due {
  const { marker } = folder
  if (marker === undefined) return 'nothing'
  if (marker.bypassed) return 'bypass'
  if (marker.session !== undefined && marker.session !== stop.session) return 'nothing'
  if (marker.session === undefined && stop.event === 'Stop') return 'nothing'
  if (marker.session === undefined && nowMs - marker.madeMs > 24 * HOUR_MS) return 'nothing'
  const stopping = stop.event === 'Stop' ? 'main' : stop.agent
  if (marker.agent !== undefined && marker.agent !== stopping) return 'nothing'
  if (stop.event === 'Stop' && stop.background) return waitAt(marker, stop) === 'begins' ? 'wait' : 'nothing'
  if (stop.event === 'Stop' && ['begins', 'stands'].includes(waitAt(marker, stop))) return 'wait'
  return spentOf(folder) >= 3 ? 'cap' : 'block'
}

/** An event. One with an agent and without `Stop` is a sub-agent's, unless that agent is `main`. */
interface WaitEvent {
  readonly event?: Stop['event']
  readonly session: string
  readonly agent: string | undefined
  readonly prompt: string
}

/** The fate of a marker's wait at an event (docs/design.md, "Waiting"). A sub-agent's event ends no wait. */
function waitAt(marker: Marker, event: WaitEvent): 'none' | 'begins' | 'stands' | 'over' {
  const isMains = event.event === 'Stop' || event.agent === 'main'
  const fate = waitOfMainAt(marker, event)
  return fate === 'over' && !isMains ? 'stands' : fate
}

function waitOfMainAt({ wait, session }: Marker, event: WaitEvent): 'none' | 'begins' | 'stands' | 'over' {
  if (wait === undefined || session !== event.session) return 'none'
  if (wait.prompt_id !== undefined) return wait.prompt_id === event.prompt ? 'stands' : 'over'
  const isLater = wait.last_prompt_id !== undefined && wait.last_prompt_id !== event.prompt
  return wait.count + (isLater ? 1 : 0) > 10 ? 'over' : 'begins'
}

/** Takes over a marker whose wait has just been stamped or removed. */
function waitChanged(folder: Folder, real: Real, task: Task, to: 'stamped' | 'removed', prompt: string): void {
  const now = readMarker(real, task)
  const isRight = to === 'removed' ? now?.wait === undefined : now?.wait?.prompt_id === prompt
  if (now === undefined || !isRight) fail(`${task}: the wait should be ${to}`, { folder, now })
  if (now.wait !== undefined && now.wait.count > 10) fail(`${task}: waits at ${now.wait.count} prompts`, { now })
  if (now.waits < (folder.marker?.waits ?? 0)) fail(`${task}: forgot how often it waited`, { folder, now })
  rewritten(folder, now)
}

/** The text without its wait, which may change while the marker stays the same. */
function withoutWait(text: string | undefined): string | undefined {
  if (text === undefined || !isJsonObject(text)) return text
  const { wait, waits, ...rest } = JSON.parse(text) as Record<string, unknown>
  return JSON.stringify(rest)
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

function readMarker(real: Real, task: Task) {
  const file = pathOf(real, task, MARKER)
  const text = textAt(file)
  if (text === undefined) return undefined
  // Any text makes a marker.
  const fields = isJsonObject(text) ? (JSON.parse(text) as Record<string, unknown>) : undefined
  const string = (name: string): string | undefined => (fields?.[name] as string | undefined) || undefined
  const created = string('created')
  return {
    id: isId(fields?.id) ? fields.id : undefined,
    session: string('cc_session_id'),
    agent: string('agent_id'),
    wait: fields?.wait as WaitFields | undefined,
    waits: (fields?.waits as number | undefined) ?? 0,
    operation: string('operation'),
    bypassed: fields?.stop_hook_active === true,
    parsed: fields !== undefined,
    hasSteps: Array.isArray(fields?.steps),
    file: fileIdentity(file) ?? 'none',
    madeMs: created === undefined ? fs.statSync(file).mtimeMs : Date.parse(created),
    text,
  }
}

function readGuard(real: Real, task: Task): Folder['guard'] {
  const text = textAt(pathOf(real, task, GUARD))
  if (text === undefined) return undefined
  if (!/^\d+$/.test(text.trim())) return 'garbled'
  // 0 is the same as no loop guard.
  return Math.min(3, Number(text)) || undefined
}

function readClaims(real: Real, task: Task): Folder['claims'] {
  const folder = pathOf(real, task, CLAIMS)
  const names = fs.existsSync(folder) ? fs.readdirSync(folder) : []
  return names.flatMap((name) => {
    const match = /^(.+)\.([1-9])$/.exec(name)
    if (match === null) return []
    return [{ key: String(match[1]), slot: Number(match[2]), file: (textAt(join(folder, name)) ?? '').trim() }]
  })
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
  return fs
    .readdirSync(folder)
    .filter((name) => name.startsWith('.postflight-') && fs.lstatSync(join(folder, name)).isFile())
    .map((name) => textAt(join(folder, name)) ?? '')
}

/** Checks the state after a kill. `resets`: the program was to end or replace the marker. */
function afterKill(model: Model, real: Real, task: Task, what: string, mayCount: boolean, resets: boolean): void {
  const folder = model[task]
  const before = { ...folder, spent: spentOf(folder) }
  // It may be any intermediate state.
  const [marker, guard, claims] = [readMarker(real, task), readGuard(real, task), readClaims(real, task)]
  Object.assign(folder, { marker, guard, claims })
  const say = (message: string): never => fail(`${what}, killed: ${task}: ${message}`, { before, after: folder })
  const after = spentOf(folder)
  if (marker === undefined) {
    if (before.marker !== undefined && !resets) say('the marker is gone')
    // Without a marker there must be no count, which would count for the next one.
    if (before.marker !== undefined && folder.guard !== undefined) say('the count of a marker that is gone is left')
    if (folder.guard === undefined) folder.blocks = {}
    return
  }
  const isSame =
    before.marker !== undefined && (withoutWait(marker.text) === withoutWait(before.marker.text) || !resets)
  if (isSame) {
    if (after !== before.spent && !(mayCount && after === before.spent + 1)) {
      say(`${before.spent} were spent before, ${after} after`)
    }
    return
  }
  if (!resets) say('a marker appeared from nowhere')
  if (after !== 0) say(`a new marker begins with ${after} spent`)
  folder.blocks = {}
}

// ---- the steps ----

type Step = fc.AsyncCommand<Model, Real>

function step(words: string, act: (model: Model, real: Real) => Promise<void>): Step {
  return {
    check: () => true,
    async run(model, real) {
      const name = words.split(' ')[0] ?? ''
      real.count[name] = (real.count[name] ?? 0) + 1
      await act(model, real)
      check(model, real, words)
    },
    toString: () => words,
  }
}

/** The marker was abandoned. `isOver`: its wait was removed just before. */
function giveUp(folder: Folder, real: Real, task: Task, { text }: Marker, isOver: boolean): void {
  // An empty marker has no text to keep.
  if (text !== '') folder.abandoned.push((isOver ? textAt(pathOf(real, task, ABANDONED)) : undefined) ?? text)
  folder.marker = undefined
  end(folder)
}

function stopAct(stop: Stop, kill: PlannedKill | undefined): Step {
  const who = `${stop.event} ${stop.session} ${stop.agent ?? '?'} ${stop.prompt}${stop.background ? ' background' : ''}`
  const words = `stop ${who}${killWords(kill)}`
  return step(words, async (model, real) => {
    const nowMs = real.nowMs()
    const judged = TASKS.map((task): [Task, Due] => [task, expected(model[task], stop, nowMs)])
    const due = Object.fromEntries(judged) as Record<Task, Due>
    const result = await real.stop(stop, kill)
    if (result === 'killed') {
      letTimePass(join(real.root, 'specs'))
      for (const task of TASKS) {
        const { marker } = model[task]
        const isOver = marker !== undefined && waitAt(marker, stop) === 'over'
        const text = isOver ? undefined : marker?.text
        afterKill(model, real, task, words, due[task] === 'block', due[task] === 'bypass' || due[task] === 'cap')
        if (due[task] === 'cap' && model[task].marker === undefined && text !== undefined && text !== '') {
          model[task].abandoned.push(text)
        }
        if (due[task] === 'cap') model[task].maybeGivenUp = model[task].marker?.id
      }
      return
    }
    for (const task of TASKS) {
      const folder = model[task]
      const isOver = folder.marker !== undefined && waitAt(folder.marker, stop) === 'over'
      if (isOver && ['block', 'nothing'].includes(due[task])) waitChanged(folder, real, task, 'removed', stop.prompt)
      const { marker } = folder
      const given = result.blocks[task]
      const say = (message: string): never => fail(`${words}: ${task}: ${message}`, { folder, due: due[task], result })
      if (due[task] !== 'block' && given !== undefined) say('was blocked')
      if (marker === undefined) continue
      const isGivenUp = marker.id !== undefined && marker.id === folder.maybeGivenUp && given === undefined
      if (due[task] === 'cap' || (due[task] === 'block' && isGivenUp && readMarker(real, task) === undefined)) {
        giveUp(folder, real, task, marker, isOver)
      } else if (due[task] === 'block') {
        const count = spentOf(folder) + 1
        if (given !== count) say(`should be continuation ${count}`)
        countBlock(folder, marker)
        folder.claims = [...countedClaims(folder, marker), { key: keyOf(marker), file: marker.file, slot: count }]
        folder.guard = count
      } else if (due[task] === 'bypass') {
        folder.marker = undefined
        end(folder)
      } else if (due[task] === 'wait' && waitAt(marker, stop) === 'begins') {
        waitChanged(folder, real, task, 'stamped', stop.prompt)
      }
    }
  })
}

const killWords = (kill: PlannedKill | undefined): string => (kill === undefined ? '' : ` ${kill.fault} at ${kill.at}`)

/** A rewrite by postflight-guard: the count is carried over to the rewritten marker. */
function rewritten(folder: Folder, marker: Marker): void {
  const spent = spentOf(folder)
  folder.marker = marker
  if (spent === 0) return
  const hadGuard = typeof folder.guard === 'number'
  if (!hadGuard) folder.guard = spent
  // While there is a loop guard all claims count, also one without its text, which a killed process left.
  const carried = spentOf(folder)
  if (!hadGuard) folder.guard = carried
  const isCounted = folder.claims.some((claim) => claim.key === keyOf(marker) && claim.slot >= carried)
  if (!isCounted) folder.claims.push({ key: keyOf(marker), file: marker.file, slot: carried })
}

/** Notes a text that does not parse: it must be kept when postflight-guard replaces or removes it. */
function noteUnparsed(folder: Folder, marker: Marker | undefined): void {
  if (marker !== undefined && !marker.parsed && marker.text !== '') folder.unparsed.push(marker.text)
}

function cliAct(
  name: 'create' | 'force' | 'clear' | 'step' | 'wait' | 'bypass' | 'adopt' | 'inspect' | 'explain',
  task: Task,
  identity: Identity,
  operation: string,
  kill: PlannedKill | undefined,
): Step {
  const spoken = `${name} ${task} ${identity.session} ${identity.agent ?? '?'} ${operation}${killWords(kill)}`
  const reason = `reason-${Math.random().toString(36).slice(2)}`
  const options: Partial<Record<typeof name, readonly string[]>> = {
    create: ['--operation', operation, '--reason', reason, '--step', 'one'],
    force: ['--operation', operation, '--reason', reason, '--force'],
    step: ['1'],
    wait: ['--for', 'an answer'],
  }
  const command = name === 'force' ? 'create' : name
  const words = name === 'explain' ? ['explain'] : [command, task, ...(options[name] ?? [])]
  return step(spoken, async (model, real) => {
    const folder = model[task]
    const { marker } = folder
    const abandoned = textAt(pathOf(real, task, ABANDONED))
    const revives = name === 'adopt' && marker === undefined && abandoned !== undefined
    const isForeign = marker !== undefined && marker.session !== identity.session
    const isCreate = name === 'create' || name === 'force'
    const isSame = marker?.parsed === true && marker.operation === operation
    const isOthers =
      marker?.agent !== undefined && marker.agent !== identity.agent && !(identity.agent === undefined && isSame)
    const renews = isCreate && isSame && !isForeign && !isOthers
    const replaces = isCreate && !renews && (name === 'force' || (!isForeign && !isOthers))
    const mayWait =
      marker?.session === identity.session &&
      [marker.agent, identity.agent].every((agent) => agent === undefined || agent === 'main') &&
      (marker.wait === undefined ? marker.waits < 10 : marker.wait.count <= 10)
    const resets = replaces || name === 'clear' || revives
    const result = await real.command(words, identity, kill)
    if (result === 'killed') {
      letTimePass(join(real.root, 'specs'))
      afterKill(model, real, task, spoken, false, resets)
      const isGone = model[task].marker?.text !== marker?.text
      if (isGone) noteUnparsed(folder, marker)
      // `clear` and `adopt` take abandoned markers, at whatever point they were killed.
      if (name === 'clear' || revives)
        takeAbandoned(folder, name === 'clear' ? folder.abandoned : [abandoned], real, task)
      return
    }
    const codes: Partial<Record<typeof name, string>> = {
      create: isForeign ? 'marker-of-other-session' : isOthers ? 'marker-of-other-agent' : 'done',
      step: stepCode(marker),
      bypass: marker === undefined ? 'bypass-none' : 'done',
      wait: marker === undefined ? 'marker-none' : mayWait ? 'done' : 'wait-refused',
      adopt: marker === undefined && !revives ? 'marker-none' : 'done',
    }
    const code = codes[name] ?? 'done'
    if (result.code !== code) fail(`${spoken}: ${result.code}, not ${code}`, { folder, result })
    if (result.code !== 'done' || name === 'inspect' || name === 'explain') return
    noteUnparsed(folder, marker)
    const now = readMarker(real, task)
    if (name === 'clear') {
      takeAbandoned(folder, folder.abandoned)
      folder.marker = undefined
      end(folder)
      return
    }
    if (now === undefined) return fail(`${spoken}: no marker afterwards`, { folder })
    if (resets) {
      if (revives) takeAbandoned(folder, [abandoned])
      end(folder)
      folder.marker = now
    } else rewritten(folder, now)
    const owner = { session: now.session, agent: now.agent }
    if (name === 'wait' && (now.wait === undefined || now.wait.prompt_id !== undefined))
      fail(`${spoken}: no wait`, { now })
    const expectedOwner = renews ? { ...identity, agent: identity.agent ?? marker?.agent } : { ...identity }
    if (['create', 'force', 'adopt'].includes(name) && !isDeepStrictEqual(owner, expectedOwner)) {
      fail(`${spoken}: another owner`, { owner, identity })
    }
    if (now.bypassed !== (name === 'bypass' || (['step', 'wait'].includes(name) && marker?.bypassed === true))) {
      fail(`${spoken}: bypassed ${now.bypassed}`, { now })
    }
  })
}

function stepCode(marker: Marker | undefined): string {
  if (marker === undefined) return 'marker-none'
  return !marker.parsed ? 'marker-unparsed' : marker.hasSteps ? 'done' : 'steps-none'
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

/** True if the command may say whose marker this is, which has a session. */
function mayConfirm({ session, agent, text }: Marker, command: string, identity: Identity, agoMs: number): boolean {
  const isFromEnvironment = JSON.parse(text).owner_from === 'environment'
  if (session === identity.session) {
    return agent === undefined || (isFromEnvironment && agent === (identity.agent ?? 'main'))
  }
  // The model's payloads do not tell how long a command ran: then only a command that makes markers is believed, and only
  // about a marker that is younger than the longest command.
  return isFromEnvironment && command === 'create' && agoMs <= 10 * 60_000
}

function madeAgoMs(real: Real, task: Task, { madeMs }: Marker): number {
  return real.nowMs() - Math.min(madeMs, fs.statSync(pathOf(real, task, MARKER)).ctimeMs)
}

function toolUseAct(
  task: Task,
  command: string,
  identity: Identity,
  prompt: string,
  kill: PlannedKill | undefined,
): Step {
  const words = `tool ${command} ${task} ${identity.session} ${identity.agent ?? 'main'} ${prompt}${killWords(kill)}`
  return step(words, async (model, real) => {
    const folder = model[task]
    const { marker } = folder
    const mayClaim =
      command !== 'wait' &&
      marker?.id !== undefined &&
      (marker.session === undefined || mayConfirm(marker, command, identity, madeAgoMs(real, task, marker)))
    const verb = command === 'wait' ? 'waiting' : 'created'
    const output = `${verb} x  ${marker?.id ?? 'none'}`
    const result = await real.toolUse({ command: `postflight ${command} 7`, output, prompt }, identity, kill)
    if (result === 'killed') {
      letTimePass(join(real.root, 'specs'))
      for (const each of TASKS) afterKill(model, real, each, words, false, false)
      return
    }
    const event = { session: identity.session, agent: identity.agent ?? 'main', prompt }
    for (const each of TASKS) {
      const one = model[each].marker
      if (one === undefined) continue
      const isClaimed = each === task && mayClaim
      const announced = each === task && command === 'wait' && one.id !== undefined
      const state = waitAt(isClaimed ? { ...one, session: identity.session } : one, event)
      const isSubAgents = announced && (identity.agent ?? 'main') !== 'main'
      if (state === 'over' || (state === 'begins' && isSubAgents))
        waitChanged(model[each], real, each, 'removed', prompt)
      else if (state === 'begins' && announced) waitChanged(model[each], real, each, 'stamped', prompt)
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
  const mine = { ...fields, cc_session_id: SESSIONS[0] }
  return {
    seed: JSON.stringify(fields),
    owned: JSON.stringify({ ...mine, id }),
    other: JSON.stringify({ ...fields, id, cc_session_id: SESSIONS[1], agent_id: 'a1' }),
    garbage: `session_id=${writes}\nskill=`,
    empty: '',
    'same id': JSON.stringify({ ...mine, ...(marker?.id !== undefined && { id: marker.id }) }),
  }[kind]
}

const everSeen = new Set<string>()

/** Plain bash writes a marker: into the existing file (`cat >`), or as a new file that replaces it (`mv`). */
function bashWrite(how: 'cat' | 'mv', kind: BashText, task: Task): Step {
  return step(`${how} ${kind} ${task}`, async (model, real) => {
    const folder = model[task]
    const before = folder.marker
    const text = bashText(kind, before)
    const target = pathOf(real, task, MARKER)
    const isNew = how === 'mv' || before === undefined
    const file = how === 'mv' ? `${target}.new` : target
    do {
      if (isNew) fs.rmSync(file, { force: true })
      fs.writeFileSync(file, text)
      // A file that was created in the same tick as a removed one can have its inode and its birth time.
    } while (isNew && everSeen.has(fileIdentity(file) ?? '') && pause())
    const time = real.nowMs() / 1000
    fs.utimesSync(file, time, time)
    if (how === 'mv') fs.renameSync(file, target)
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

function bashAct(name: 'rm marker' | 'rm guard' | 'rm both' | 'touch' | `garble ${string}`, task: Task): Step {
  return step(`${JSON.stringify(name)} ${task}`, async (model, real) => {
    const folder = model[task]
    const marker = pathOf(real, task, MARKER)
    const guard = pathOf(real, task, GUARD)
    if (name === 'rm marker' || name === 'rm both') {
      fs.rmSync(marker, { force: true })
      folder.marker = undefined
    }
    if (name === 'rm guard' || name === 'rm both') {
      fs.rmSync(guard, { force: true })
      folder.guard = undefined
    }
    if (name === 'touch' && folder.marker !== undefined) {
      const time = real.nowMs() / 1000
      fs.utimesSync(marker, time, time)
      folder.marker = readMarker(real, task)
    }
    if (name.startsWith('garble ') && folder.guard !== undefined) {
      fs.writeFileSync(guard, name.slice(7))
      folder.guard = readGuard(real, task)
    }
    if (folder.marker === undefined && folder.guard === undefined) folder.blocks = {}
  })
}

const sessionAct = (session: string): Step =>
  step(`start ${session}`, async (model, real) => {
    await real.sessionStart(session)
    for (const task of TASKS) {
      const { marker } = model[task]
      if (marker?.session === session && marker.wait !== undefined) waitChanged(model[task], real, task, 'removed', '')
    }
  })

const passAct = (hours: number): Step =>
  step(`pass ${hours} h`, async (_, real) => {
    real.pass?.(hours * HOUR_MS)
  })

/** Checks that each agent is free within five stops, whatever happened before: a stop is allowed. */
export async function checkLiveness(real: Real): Promise<void> {
  const stops: readonly Stop[] = [
    { event: 'SubagentStop', session: SESSIONS[0], agent: 'a1', background: false, prompt: 'last' },
    { event: 'Stop', session: SESSIONS[0], agent: undefined, background: false, prompt: 'last' },
  ]
  for (const stop of stops) {
    for (let count = 1; ; count++) {
      const result = await real.stop(stop, undefined)
      if (result !== 'killed' && Object.keys(result.blocks).length === 0) break
      if (count === 5) fail('five stops, and none is allowed', { stop, result })
    }
  }
}

// ---- generated values ----

const anyTask = fc.constantFrom<Task>('007_x', '007_x', '007_x', '008_y')
const anySession = fc.constantFrom(SESSIONS[0], SESSIONS[0], SESSIONS[0], SESSIONS[1])
const anyAgent = fc.constantFrom('a1', 'a1', 'a2', undefined)
const anyPrompt = fc.constantFrom('p1', 'p1', 'p1', 'p2', 'p3')
const anyOperation = fc.constantFrom('implement', 'implement', 'research')

function killsUpTo(calls: number): fc.Arbitrary<PlannedKill | undefined> {
  return fc.option(fc.record({ at: fc.integer({ min: 1, max: calls }), fault: fc.constantFrom(...KILLS) }), {
    nil: undefined,
    freq: 3,
  })
}

export function anySteps(maxSteps: number, withTime: boolean): fc.Arbitrary<Iterable<Step>> {
  const event = fc.constantFrom<Stop['event']>('SubagentStop', 'SubagentStop', 'Stop')
  const background = fc.constantFrom(false, false, false, true)
  const stop = fc
    .record({ event, session: anySession, agent: anyAgent, background, prompt: anyPrompt })
    .map((one): Stop => ({ ...one, agent: one.event === 'Stop' ? undefined : one.agent }))
  // Stops of the agents to which most markers here belong.
  const ofAgent: Stop = { event: 'SubagentStop', session: SESSIONS[0], agent: 'a1', background: false, prompt: 'p1' }
  const ofMain: Stop = { ...ofAgent, event: 'Stop', agent: undefined }
  const stops = (one: fc.Arbitrary<Stop>, kill: fc.Arbitrary<PlannedKill | undefined> = fc.constant(undefined)) =>
    fc.tuple(one, kill).map((args) => stopAct(...args))
  const identity = fc.record({ session: anySession, agent: fc.constantFrom('a1', 'main', undefined) })
  const cli = (...names: readonly Parameters<typeof cliAct>[0][]) =>
    fc.tuple(fc.constantFrom(...names), anyTask, identity, anyOperation, killsUpTo(40)).map((args) => cliAct(...args))
  const toolUse = fc.tuple(anyTask, fc.constantFrom('create', 'wait'), identity, anyPrompt, killsUpTo(40))
  const text = fc.constantFrom<BashText>('seed', 'seed', 'owned', 'other', 'garbage', 'empty', 'same id')
  const change = fc.constantFrom<Parameters<typeof bashAct>[0]>(
    ...(['rm marker', 'rm guard', 'rm guard', 'rm both', 'touch'] as const),
    ...(['garble ', 'garble x', 'garble {}', 'garble 0\n'] as const),
  )
  const steps: fc.Arbitrary<Step>[] = [
    stops(stop, killsUpTo(60)),
    stops(stop),
    stops(fc.constantFrom(ofAgent, ofAgent, ofMain)),
    stops(fc.constant({ ...ofAgent, prompt: 'p2' }), killsUpTo(30)),
    cli('create', 'create', 'step', 'adopt', 'inspect', 'explain'),
    cli('force', 'clear', 'bypass', 'step', 'adopt', 'wait'),
    cli('wait'),
    toolUse.map((args) => toolUseAct(...args)),
    fc.tuple(fc.constantFrom('cat' as const, 'mv' as const), text, anyTask).map((args) => bashWrite(...args)),
    fc.tuple(change, anyTask).map((args) => bashAct(...args)),
    anySession.map(sessionAct),
    ...(withTime ? [fc.constantFrom(1, 25).map(passAct)] : []),
  ]
  return fc.commands(steps, { maxCommands: maxSteps, size: 'max' })
}
