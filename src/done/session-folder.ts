import fs from 'node:fs'
import path from 'node:path'
import { errorCode, kindAt } from '../disk/file-facts.ts'
import { sha256 } from '../disk/hash.ts'
import { hideFromGit, makeLastingFolder, makeOwnFolder } from '../disk/own-folder.ts'
import { readSmallFile } from '../disk/read.ts'
import { createFile, createWhole, replaceFile, sync, temporaryBeside, tryRemoveFile } from '../disk/write.ts'
import type { Payload } from '../hosts/host.ts'
import { ABANDONED_FILE, MARKER_FILE } from '../kernel/files.ts'
import { isJsonObject } from '../kernel/json-object.ts'
import { CONTINUATION_LIMIT } from '../marker/loop-guard.ts'
import { isSessionFolderName, sessionFolderName, sessionFolderPath } from '../project/done-folder.ts'
import { journalPaths } from '../project/journal.ts'
import type { TaskFolder } from '../project/task-folder.ts'

/**
 * The folder of a session in `specs/.postflight/`: its baseline, its marker, and how often it was asked. All times come from
 * the file system's clock, as those of the files do that are compared with them.
 */

/** The folder of a session; it need not exist. */
export function sessionFolder(root: string, session: string): TaskFolder {
  return folderNamed(root, sessionFolderName(session))
}

function folderNamed(root: string, name: string): TaskFolder {
  return { root, path: path.join(journalPaths(root).folder, name), task: name, relative: sessionFolderPath(name) }
}

/** The folders of all sessions. Never throws: none where they cannot be listed. */
export function sessionFolders(root: string): TaskFolder[] {
  const above = journalPaths(root).folder
  try {
    if (kindAt(above) !== 'folder') return []
    return fs
      .readdirSync(above, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isSessionFolderName(entry.name))
      .map(({ name }) => folderNamed(root, name))
  } catch {
    return []
  }
}

/** Makes the folder. @throws {PostflightError} `not-a-folder`; file-system errors. */
export function makeSessionFolder({ root, path: folder }: TaskFolder): void {
  const above = journalPaths(root).folder
  if (makeOwnFolder(above)) hideFromGit(above)
  makeLastingFolder(folder)
}

/** A time since when files count as changed, and the paths that there were. */
export interface Baseline {
  readonly sinceMs: number
  /** The hash of each rule's paths, by the rule's key. */
  readonly paths: Readonly<Record<string, string>>
  /** The prompt at which nothing more is asked; undefined for none. */
  readonly prompt?: string | undefined
}

const BASELINE_FILE = 'baseline.json'

/** Written when the person let the session go before there was a marker. */
const BYPASSED_FILE = 'bypassed.json'

/** The largest baseline that is read, in bytes: it has a hash for each rule. */
const BASELINE_LIMIT = 65_536

/** The baseline that the session's start wrote; undefined if there is none. */
export function readBaseline(folder: TaskFolder): Baseline | undefined {
  return readBaselineFile(folder, BASELINE_FILE)
}

/** The baseline of a bypass without a marker; undefined if there was none. `prompt` is missing before its first stop. */
export function readBypass(folder: TaskFolder): Baseline | undefined {
  return readBaselineFile(folder, BYPASSED_FILE)
}

function readBaselineFile({ path: folder }: TaskFolder, name: string): Baseline | undefined {
  const read = readSmallFile(path.join(folder, name), BASELINE_LIMIT)
  if (read.kind !== 'text') return undefined
  let held: unknown
  try {
    held = JSON.parse(read.text)
  } catch {
    // Its time counts all the same.
  }
  const fields = isJsonObject(held) ? held : {}
  const prompt = typeof fields.prompt_id === 'string' ? fields.prompt_id : undefined
  return { sinceMs: read.modifiedMs, paths: readPaths(fields.paths), prompt }
}

/** The hashes by the rules' keys. */
export function readPaths(value: unknown): Record<string, string> {
  if (!isJsonObject(value)) return {}
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

/** Writes the baseline of a session, unless it has one: it stays when the session is resumed. @throws file-system errors. */
export function writeBaseline(folder: TaskFolder, paths: Readonly<Record<string, string>>): void {
  makeSessionFolder(folder)
  try {
    createWhole(path.join(folder.path, BASELINE_FILE), `${JSON.stringify({ paths })}\n`)
    sync(folder.path)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
}

/** Lets a session go that has no marker yet: its next stop is allowed, and is a new baseline. @throws file-system errors. */
export function bypassDone(folder: TaskFolder): void {
  if (kindAt(path.join(folder.path, MARKER_FILE)) !== undefined) return
  replaceFile(path.join(folder.path, BYPASSED_FILE), '{}\n')
}

/** Notes the first stop after a bypass. @throws file-system errors. */
export function settleBypass(folder: TaskFolder, paths: Readonly<Record<string, string>>, prompt: string): void {
  replaceFile(path.join(folder.path, BYPASSED_FILE), `${JSON.stringify({ paths, prompt_id: prompt })}\n`)
}

/** Stands for the prompt on a host without ids of prompts: nothing is asked again before the next session. */
const WHOLE_SESSION = 'session'

/** The prompt that a stop belongs to. */
export function promptOf({ prompt }: Payload): string {
  return prompt ?? WHOLE_SESSION
}

function slotPath({ path: folder }: TaskFolder, prompt: string, slot: number): string {
  return path.join(folder, `asked-${sha256(prompt).slice(0, 16)}-${slot}`)
}

const SLOTS = Array.from({ length: CONTINUATION_LIMIT }, (_, index) => index + 1)

/** How many stops were blocked for a prompt, whatever became of the markers. @throws file-system errors. */
export function askedAt(folder: TaskFolder, prompt: string): number {
  return SLOTS.filter((slot) => kindAt(slotPath(folder, prompt, slot)) !== undefined).length
}

/**
 * Counts a blocked stop for a prompt, durably, by creating a file exclusively: any number of processes may try at once.
 * @returns whether one was left.
 * @throws file-system errors; then nothing may be blocked.
 */
export function claimAsking(folder: TaskFolder, prompt: string): boolean {
  return SLOTS.some((slot) => {
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

/** Notes that the user was told something once in this session. Returns whether that is new. Never throws. */
export function isToldFirst(folder: TaskFolder, what: string): boolean {
  try {
    makeSessionFolder(folder)
    createFile(path.join(folder.path, `told-${sha256(what).slice(0, 16)}`), '', false)
    return true
  } catch {
    return false
  }
}

/** The file system's present time, in ms since the epoch. @throws file-system errors. */
export function fileSystemNow(folder: string): number {
  const file = temporaryBeside(path.join(folder, 'now'))
  try {
    createFile(file, '', false)
    return fs.lstatSync(file).mtimeMs
  } finally {
    tryRemoveFile(file)
  }
}

/** The folder of a session that was not used for this time (ms) goes. */
const LIFETIME_MS = 7 * 86_400_000

/** Notes that a session is still used. Never throws. */
export function touchFolder({ path: folder }: TaskFolder): void {
  try {
    const now = new Date()
    fs.utimesSync(folder, now, now)
  } catch {
    // It is not there yet.
  }
}

/** Removes the folders of sessions that have ended long ago. Those of markers that do not parse stay. Never throws. */
export function removeOldFolders(root: string, nowMs: number): void {
  for (const folder of sessionFolders(root)) {
    try {
      if (nowMs - fs.lstatSync(folder.path).mtimeMs <= LIFETIME_MS || holdsUnparsed(folder)) continue
      fs.rmSync(folder.path, { recursive: true, force: true })
    } catch {
      // The next session tries again.
    }
  }
}

function holdsUnparsed({ path: folder }: TaskFolder): boolean {
  return [MARKER_FILE, ABANDONED_FILE].some((name) => {
    const read = readSmallFile(path.join(folder, name), BASELINE_LIMIT)
    if (read.kind === 'absent') return false
    if (read.kind !== 'text' || !read.whole) return true
    try {
      return !isJsonObject(JSON.parse(read.text))
    } catch {
      return true
    }
  })
}
