import fs from 'node:fs'
import path from 'node:path'
import { fileSystemNow } from '../disk/age.ts'
import { errorCode, kindAt, kindIfSeen } from '../disk/file-facts.ts'
import { makeLastingFolder } from '../disk/folders.ts'
import { sha256 } from '../disk/ids.ts'
import { COMMAND_PATIENCE_MS, withLock } from '../disk/lock.ts'
import { readSmallFile, textIn } from '../disk/read.ts'
import { createFile, replaceFile, sync, tryRemoveFile } from '../disk/write.ts'
import type { Payload } from '../hosts/payload.ts'
import { PostflightError } from '../kernel/errors.ts'
import { ABANDONED_FILE, DONE_RECEIPTS_FILE, MARKER_FILE } from '../kernel/files.ts'
import { attempt, isJsonObject, jsonObjectIn, succeeds } from '../kernel/values.ts'
import { CONTINUATION_LIMIT } from '../marker/loop-guard.ts'
import type { Marker } from '../marker/marker.ts'
import { readMarker } from '../marker/marker-store.ts'
import { journalFolder, makeJournalFolder } from '../project/journal.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { isSessionFolderName, sessionFolderName, sessionFolderPath } from '../project/task-folders.ts'
import { type DoneRule, ruleText } from './done-rules.ts'
import type { TrustedRules } from './trust-store.ts'

export function sessionFolder(root: string, session: string): TaskFolder {
  return folderNamed(root, sessionFolderName(session))
}

function folderNamed(root: string, name: string): TaskFolder {
  return { root, path: path.join(journalFolder(root), name), task: name, relative: sessionFolderPath(name) }
}

/** Never throws. */
export function sessionFolders(root: string): TaskFolder[] {
  const above = journalFolder(root)
  if (kindIfSeen(above) !== 'folder') return []
  return attempt(() => fs.readdirSync(above, { withFileTypes: true }), [])
    .filter((entry) => entry.isDirectory() && isSessionFolderName(entry.name))
    .map(({ name }) => folderNamed(root, name))
}

export function makeSessionFolder(folder: TaskFolder): void {
  makeJournalFolder(folder.root)
  makeLastingFolder(folder.path)
  touchFolder(folder)
}

export interface Baseline {
  readonly sinceMs: number
  readonly paths: Readonly<Record<string, string>>
  readonly prompt?: string | undefined
}

const BASELINE_FILE = 'baseline.json'
const BYPASSED_FILE = 'bypassed.json'

export function readBaseline({ path: folder }: TaskFolder, name = BASELINE_FILE): Baseline | undefined {
  const file = path.join(folder, name)
  const read = readSmallFile(file)
  // Without its baseline a session would have no rule due.
  if (read.kind === 'unreadable') throw new PostflightError('file-unreadable', { path: file, detail: read.detail })
  if (read.kind === 'absent') return undefined
  const about = jsonObjectIn(read.text)
  // A garbled baseline still has a time. `git stash --all` and copies give the file a later one.
  const sinceMs = typeof about.at_ms === 'number' ? Math.min(about.at_ms, read.modifiedMs) : read.modifiedMs
  return isFuture(sinceMs) ? undefined : { sinceMs, ...readAbout(about) }
}

function readAbout({ paths, prompt_id: prompt }: Record<string, unknown>): Omit<Baseline, 'sinceMs'> {
  const entries = Object.entries(isJsonObject(paths) ? paths : {})
  return {
    paths: Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
    prompt: typeof prompt === 'string' ? prompt : undefined,
  }
}

const CLOCK_TOLERANCE_MS = 60_000

/** A time in the future (the clock was set back) is useless: no change would ever be later. */
function isFuture(timeMs: number): boolean {
  return timeMs > Date.now() + CLOCK_TOLERANCE_MS
}

export function writeBaseline(folder: TaskFolder, paths: Readonly<Record<string, string>>): void {
  makeSessionFolder(folder)
  writeTimed(folder, BASELINE_FILE, { paths })
}

export function bypassDone(folder: TaskFolder): void {
  if (kindAt(path.join(folder.path, MARKER_FILE)) !== undefined) return
  replaceFile(path.join(folder.path, BYPASSED_FILE), '{}\n')
}

/** For sessions without a folder yet: the first stop of any of them uses the bypass up. */
export function bypassNewSessions(root: string, trusted: TrustedRules): void {
  makeJournalFolder(root)
  replaceFile(newSessionBypassPath(root), newSessionBypass(trusted))
}

export function readBypass(folder: TaskFolder, trusted: TrustedRules): Baseline | undefined {
  if (kindAt(folder.path) !== undefined) return readBaseline(folder, BYPASSED_FILE)
  const read = readSmallFile(newSessionBypassPath(folder.root))
  // Any other text may have come with a clone.
  if (read.kind !== 'text' || read.text !== newSessionBypass(trusted) || isFuture(read.modifiedMs)) return undefined
  return { sinceMs: read.modifiedMs, paths: {} }
}

function newSessionBypass({ nonce }: TrustedRules): string {
  return `${JSON.stringify({ seal: sealOf(nonce, BYPASSED_FILE, {}) })}\n`
}

function newSessionBypassPath(root: string): string {
  return path.join(journalFolder(root), BYPASSED_FILE)
}

export function endBypass(folder: TaskFolder, paths: Readonly<Record<string, string>>, prompt: string): void {
  writeTimed(folder, BYPASSED_FILE, { paths, prompt_id: prompt })
  tryRemoveFile(newSessionBypassPath(folder.root))
}

function writeTimed({ path: folder }: TaskFolder, name: string, about: object): void {
  replaceFile(path.join(folder, name), `${JSON.stringify({ at_ms: fileSystemNow(folder), ...about })}\n`)
}

/** The last stop, according to the abandoned marker. */
export function aboutOf({ fields }: Marker) {
  return readAbout(isJsonObject(fields?.done) ? fields.done : {})
}

export function abandonedBaseline(folder: TaskFolder): Baseline | undefined {
  const read = readMarker(folder, ABANDONED_FILE)
  if (read?.kind !== 'marker' || isFuture(read.times.changedMs)) return undefined
  const { paths, prompt } = aboutOf(read.marker)
  // The rename that abandons a marker changes its status.
  return prompt === undefined ? undefined : { sinceMs: read.times.changedMs, paths, prompt }
}

/** After a person cleared the abandoned marker, its changes must not be due again. Never throws. */
export function endAbandoned(folder: TaskFolder, marker: Marker): void {
  const bypass = readBaseline(folder, BYPASSED_FILE)
  // A bypass of the next stop.
  if (bypass !== undefined && bypass.prompt === undefined) return
  const { paths, prompt = WHOLE_SESSION } = aboutOf(marker)
  // If the disk is full, the changes may be due again.
  attempt(() => writeTimed(folder, BYPASSED_FILE, { paths, prompt_id: prompt }))
}

const WHOLE_SESSION = 'session'
const RESUMED_FILE = 'resumed'

/** Never throws. */
export function noteResume({ path: folder }: TaskFolder, nowMs: number): void {
  // Otherwise the count of blocked stops goes on, as after a power cut.
  attempt(() => replaceFile(path.join(folder, RESUMED_FILE), `${nowMs}\n`, { durable: false }))
}

/** Copilot CLI and droid name no prompt: there each resume of the session counts as one. */
export function promptOf({ prompt }: Payload, { path: folder }: TaskFolder): string {
  if (prompt !== undefined) return prompt
  const read = readSmallFile(path.join(folder, RESUMED_FILE))
  return read.kind === 'text' ? `${WHOLE_SESSION} ${read.text}` : WHOLE_SESSION
}

function slotPath({ path: folder }: TaskFolder, prompt: string, slot: number): string {
  return path.join(folder, `asked-${sha256(prompt).slice(0, 16)}-${slot}`)
}

const SLOTS = Array.from({ length: CONTINUATION_LIMIT }, (_, index) => index + 1)

/** The highest slot that the session has taken in any of its roots. */
export function askedAt({ task }: TaskFolder, prompt: string, roots: readonly string[]): number {
  const isTaken = (slot: number): boolean =>
    roots.some((root) => kindAt(slotPath(folderNamed(root, task), prompt, slot)) !== undefined)
  return SLOTS.findLast(isTaken) ?? 0
}

export function countAsking(folder: TaskFolder, prompt: string, asked: number): boolean {
  return SLOTS.slice(asked).some((slot) => {
    try {
      createFile(slotPath(folder, prompt, slot), '')
    } catch (error) {
      if (errorCode(error) === 'EEXIST') return false
      throw error
    }
    sync(folder.path)
    return true
  })
}

/** Never throws. */
export function isFirstNotice(folder: TaskFolder, what: string): boolean {
  const note = path.join(folder.path, `told-${sha256(what).slice(0, 16)}`)
  return succeeds(() => createFile(note, '', { durable: false }))
}

const LIFETIME_MS = 7 * 86_400_000

/** Never throws: it may not exist yet. */
export function touchFolder({ path: folder }: TaskFolder): void {
  const now = new Date()
  attempt(() => fs.utimesSync(folder, now, now))
}

/** Never throws: the next session tries again. */
export function removeOldFolders(root: string, nowMs: number): void {
  for (const folder of sessionFolders(root)) {
    attempt(() => {
      if (nowMs - fs.lstatSync(folder.path).mtimeMs <= LIFETIME_MS || holdsMarker(folder)) return
      fs.rmSync(folder.path, { recursive: true, force: true })
    })
  }
}

/** A marker is evidence that only a command removes. */
function holdsMarker({ path: folder }: TaskFolder): boolean {
  return fs.readdirSync(folder).some((name) => name.startsWith(MARKER_FILE) || name.startsWith(ABANDONED_FILE))
}

/** The last green run of a rule. It proves the files for every session. */

export interface DoneReceipt {
  readonly atMs: number
  readonly paths: string
  readonly ownOutput: readonly string[]
  /** What was written with the same content twice, and its hash: another content makes the rule due. */
  readonly rewritten: Readonly<Record<string, string>>
  /** Proven files with a later time (ms) than the receipt: a clock was set back, or an archive was unpacked. */
  readonly ahead: Readonly<Record<string, number>>
  readonly durationMs: number
}

/** In bytes. */
const RECEIPTS_LIMIT = 4_194_304

export function ruleKey(rule: DoneRule): string {
  return sha256(ruleText(rule)).slice(0, 16)
}

function receiptsPath(root: string): string {
  return path.join(journalFolder(root), DONE_RECEIPTS_FILE)
}

/** Never throws. */
export function readReceipts(root: string, { nonce }: TrustedRules, nowMs: number) {
  const receipts: Record<string, DoneReceipt> = {}
  for (const [key, one] of Object.entries(readEntries(root))) {
    if (!isJsonObject(one)) continue
    const { seal, ...stored } = one
    // Nested too deeply, it is not ours.
    if (attempt(() => seal !== sealOf(nonce, key, stored), true)) continue
    const { at_ms: atMs, paths, own_output: ownOutput, rewritten, ahead, duration_ms: durationMs } = stored
    // As `keepReceipt` wrote it.
    const receipt = { atMs, paths, ownOutput, rewritten, ahead, durationMs } as DoneReceipt
    // After the clock was set back, such a receipt would prove files that do not exist yet.
    if (receipt.atMs <= nowMs + CLOCK_TOLERANCE_MS) receipts[key] = receipt
  }
  return receipts
}

function sealOf(nonce: string, key: string, stored: object): string {
  return sha256(JSON.stringify([nonce, key, stored]))
}

function readEntries(root: string): Readonly<Record<string, unknown>> {
  const { receipts } = jsonObjectIn(textIn(receiptsPath(root), RECEIPTS_LIMIT) ?? '')
  return isJsonObject(receipts) ? receipts : {}
}

export function keepReceipt(root: string, rule: DoneRule, receipt: DoneReceipt, { rules, nonce }: TrustedRules): void {
  const key = ruleKey(rule)
  const folder = makeJournalFolder(root)
  const keys = new Set(rules.map(ruleKey))
  withLock(folder, COMMAND_PATIENCE_MS, () => {
    const others = Object.entries(readEntries(root)).filter(([other]) => keys.has(other) && other !== key)
    const { when, unless, checks: check } = rule
    const { atMs: at_ms, durationMs: duration_ms, ownOutput: own_output, rewritten, paths, ahead } = receipt
    const textWith = (listed: object): string => {
      const own = { when, unless, check, at_ms, duration_ms, paths, own_output, rewritten, ahead: listed }
      const receipts = { ...Object.fromEntries(others), [key]: { ...own, seal: sealOf(nonce, key, own) } }
      return `${JSON.stringify({ receipts }, null, 2)}\n`
    }
    const text = textWith(ahead)
    // A file over the limit would lose every receipt; without the list only these files are due again.
    replaceFile(receiptsPath(root), Buffer.byteLength(text) > RECEIPTS_LIMIT ? textWith({}) : text)
  })
}
