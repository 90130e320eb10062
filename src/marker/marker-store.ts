import fs from 'node:fs'
import path from 'node:path'
import { errorCode, fileIdentity, isFull, kindAt, pathIn, unlessAbsent } from '../disk/file-facts.ts'
import { COMMAND_PATIENCE_MS, HOOK_PATIENCE_MS, withLock } from '../disk/lock.ts'
import { readSmallFile } from '../disk/read.ts'
import {
  createFile,
  createWhole,
  removeFile,
  replaceFile,
  sync,
  temporaryBeside,
  tryRemoveFile,
} from '../disk/write.ts'
import { PostflightError } from '../kernel/errors.ts'
import { ABANDONED_FILE, MARKER_FILE, UNPARSED_FILE } from '../kernel/files.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { markerProblem } from './check-messages.ts'
import { hasClaimsUnderway } from './count/claim-files.ts'
import { carryCount, endContinuations } from './count/count.ts'
import { forgetGivenUp, noteGivenUp, spentOf } from './given-up.ts'
import {
  formatIfRoom,
  formatMarker,
  MARKER_BYTES,
  type Marker,
  mayHaveChecks,
  parseMarker,
  UNCHECKED,
  unparsed,
  withFields,
} from './marker.ts'
import { checkingSince } from './run-checks.ts'
import { type MarkerRead, markerDisplayPath, type StoredMarker, type UnreadableMarker } from './stored-marker.ts'

/** Readers need no lock. */

/** Never throws. `likely`: the caller has just seen the file. */
export function readMarker(folder: TaskFolder, fileName = MARKER_FILE, likely = false): MarkerRead | undefined {
  const read = readSmallFile(pathIn(folder.path, fileName), MARKER_BYTES, likely)
  if (read.kind === 'absent') return undefined
  if (read.kind === 'unreadable') return { kind: 'unreadable', folder, fileName, detail: read.detail }
  const marker = read.whole ? parseMarker(read.text) : unparsed({ code: 'too-large' })
  return {
    kind: 'marker',
    folder,
    fileName,
    marker,
    text: read.text,
    identity: { id: marker.id, file: read.identity },
    times: { modifiedMs: read.modifiedMs, changedMs: read.changedMs },
    ...(marker.checks.length > 0 && { checkingSinceMs: checkingSince(folder.path) }),
  }
}

export function requireReadable<T extends StoredMarker | undefined>(read: T | UnreadableMarker): T {
  if (read?.kind !== 'unreadable') return read as T
  const { folder, fileName, detail } = read
  throw new PostflightError('marker-unreadable', { path: markerDisplayPath(folder, fileName), detail })
}

function pathOf({ folder, fileName }: StoredMarker): string {
  return path.join(folder.path, fileName)
}

/** Keeps unparsed and abandoned texts. If that fails, it throws, so that the caller removes nothing. */

function keepUnparsed(read: StoredMarker | undefined): void {
  if (read !== undefined && read.marker.fields === undefined && read.text !== '') keepText(read)
}

/** Renames a text that did not parse: this needs no disk space. */
export function removeOrKeep(read: StoredMarker): void {
  const { folder, marker, text } = read
  if (marker.fields !== undefined || text === '') removeFile(pathOf(read))
  // Plain `rm` may just have removed it.
  else unlessAbsent(() => fs.renameSync(pathOf(read), freeName(path.join(folder.path, UNPARSED_FILE))))
}

function keepText(read: StoredMarker): void {
  const temporary = temporaryBeside(path.join(read.folder.path, MARKER_FILE))
  try {
    fs.copyFileSync(pathOf(read), temporary, fs.constants.COPYFILE_EXCL)
    sync(temporary)
    fs.renameSync(temporary, freeName(path.join(read.folder.path, UNPARSED_FILE)))
  } catch (error) {
    tryRemoveFile(temporary)
    throw error
  }
  // Durable before the original is replaced.
  sync(read.folder.path)
}

function keepEarlierAbandoned(folder: TaskFolder): void {
  const target = path.join(folder.path, ABANDONED_FILE)
  if (kindAt(target) === undefined) return
  fs.renameSync(target, freeName(`${target}.1`))
  // Durable before another file takes its name.
  sync(folder.path)
}

function freeName(target: string): string {
  const base = target.replace(/\.\d+$/, '')
  let name = target
  for (let number = 1; kindAt(name) !== undefined; number++) name = `${base}.${number}`
  return name
}

export function mustBeKept(read: MarkerRead | undefined): read is StoredMarker {
  return read?.kind === 'marker' && mayHaveChecks(read.marker)
}

function copyUnchecked(stored: StoredMarker): void {
  keepEarlierAbandoned(stored.folder)
  createWhole(path.join(stored.folder.path, ABANDONED_FILE), uncheckedText(stored))
  sync(stored.folder.path)
}

function uncheckedText({ marker, text }: StoredMarker): string {
  return formatIfRoom(withFields(marker.fields ?? {}, { outcome: UNCHECKED })) ?? text
}

/** The caller holds the folder's lock and ends the count. */
function abandonUnchecked(stored: StoredMarker): void {
  try {
    copyUnchecked(stored)
    removeFile(pathOf(stored))
  } catch (error) {
    // A full disk still allows a rename.
    if (!isFull(error)) throw error
    fs.renameSync(pathOf(stored), path.join(stored.folder.path, ABANDONED_FILE))
  }
}

/** Changes markers under the folder's lock. */

/** Decided under the lock. Callers may add results of their own. */
interface MarkerPlan {
  /** Undefined removes a field. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Whether to keep a replaced marker with checks as abandoned. */
  readonly keepsUnchecked?: boolean
}

/** `revives`: takes the abandoned marker if none is pending. */
export function writeNewMarker<Plan extends MarkerPlan & { readonly keepsCount: boolean }>(
  folder: TaskFolder,
  plan: (present: StoredMarker | undefined, isAbandoned: boolean) => Plan,
  { patienceMs = COMMAND_PATIENCE_MS, revives = false } = {},
): Plan {
  const write = (): Plan => {
    const pending = requireReadable(readMarker(folder))
    const isAlone = pending === undefined && revives
    const abandoned = isAlone ? requireReadable(readMarker(folder, ABANDONED_FILE)) : undefined
    const planned = plan(pending ?? abandoned, abandoned !== undefined)
    const text = formatMarker(planned.fields)
    keepUnparsed(pending ?? abandoned)
    if (pending === undefined) {
      if (!createMarker(folder, text)) return write()
    } else if (planned.keepsCount) rewriteMarker(pending, text)
    else {
      endContinuations(folder.path, pending.identity, () => {
        if (planned.keepsUnchecked === true && mustBeKept(pending)) copyUnchecked(pending)
        replaceFile(path.join(folder.path, MARKER_FILE), text)
      })
    }
    forgetGivenUp(folder)
    if (abandoned !== undefined) {
      const file = path.join(folder.path, ABANDONED_FILE)
      if (planned.keepsUnchecked === true && mustBeKept(abandoned)) replaceFile(file, uncheckedText(abandoned))
      else if (removeFile(file)) sync(folder.path)
    }
    return planned
  }
  return withLock(folder.path, patienceMs, write)
}

/** Returns false if plain bash, which takes no lock, has just written a marker. */
function createMarker(folder: TaskFolder, text: string): boolean {
  try {
    endContinuations(folder.path, undefined, () => createWhole(path.join(folder.path, MARKER_FILE), text))
    return true
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    return false
  }
}

function rewriteMarker(present: StoredMarker, text: string): void {
  const { folder, identity } = present
  const target = path.join(folder.path, MARKER_FILE)
  const temporary = temporaryBeside(target)
  createFile(temporary, text)
  try {
    carryCount(folder.path, identity, { id: parseMarker(text).id, file: fileIdentity(temporary) ?? identity.file })
    // Plain `rm` takes no lock: a marker that it has just removed must not be restored.
    if (fileIdentity(target) !== identity.file) {
      throw new PostflightError('marker-vanished', { path: markerDisplayPath(folder) })
    }
    fs.renameSync(temporary, target)
    sync(folder.path)
  } catch (error) {
    tryRemoveFile(temporary)
    throw error
  }
}

/** `plan` returns undefined to leave the marker alone. */
export function changeMarker<Plan extends MarkerPlan | undefined>(
  folder: TaskFolder,
  plan: (marker: Marker) => Plan,
  { patienceMs = COMMAND_PATIENCE_MS, replaceUnparsed = false } = {},
): { readonly plan: Plan; readonly marker: Marker } {
  return withLock(folder.path, patienceMs, () => {
    const present = requireReadable(readMarker(folder))
    if (present === undefined) throw new PostflightError('marker-none', { folder: folder.relative })
    const planned = plan(present.marker)
    if (planned === undefined) return { plan: planned, marker: present.marker }
    const { fields } = planned
    if (present.marker.fields === undefined && !replaceUnparsed) {
      const detail = present.marker.problems.map(markerProblem)[0] ?? ''
      throw new PostflightError('marker-unparsed', { path: markerDisplayPath(folder), detail })
    }
    keepUnparsed(present)
    const text = replaceUnparsed
      ? formatOrReplace(present, fields)
      : formatMarker(withFields(present.marker.fields ?? {}, fields))
    rewriteMarker(present, text)
    return { plan: planned, marker: parseMarker(text) }
  })
}

/** If the text would be too large, keeps it in a copy and writes the changes alone. */
function formatOrReplace(present: StoredMarker, changes: Readonly<Record<string, unknown>>): string {
  const text = formatIfRoom(withFields(present.marker.fields ?? {}, changes))
  if (text !== undefined) return text
  if (mustBeKept(present)) copyUnchecked(present)
  else keepText(present)
  return formatMarker(changes)
}

/** Calls `still` under the lock. `keepsUnchecked`: a marker with checks as abandoned. */
export function endMarker(folder: TaskFolder, still: (marker: StoredMarker) => boolean, keepsUnchecked = true) {
  return withLock(folder.path, HOOK_PATIENCE_MS, () => {
    const present = requireReadable(readMarker(folder))
    if (present === undefined || !still(present)) return undefined
    removeMarker(folder, present, keepsUnchecked && mustBeKept(present))
    return present
  })
}

export function abandonMarker(folder: TaskFolder, still: (marker: StoredMarker, spent: number) => boolean) {
  const target = path.join(folder.path, MARKER_FILE)
  if (kindAt(target) === undefined) return undefined
  return withLock(folder.path, HOOK_PATIENCE_MS, () => {
    const present = readMarker(folder)
    if (present?.kind !== 'marker') return undefined
    if (!still(present, spentOf(present))) return undefined
    if (hasClaimsUnderway(folder.path, Date.now())) return undefined
    noteGivenUp(present)
    endContinuations(folder.path, present.identity, () => {
      keepEarlierAbandoned(folder)
      fs.renameSync(target, path.join(folder.path, ABANDONED_FILE))
    })
    return present
  })
}

/** The caller holds the folder's lock. `isUnchecked`: keeps it as abandoned. */
export function removeMarker(folder: TaskFolder, marker: StoredMarker | undefined, isUnchecked: boolean): void {
  endContinuations(folder.path, marker?.identity, () => {
    // Plain bash takes no lock: a marker that it has just written was not judged.
    if (marker === undefined) return
    if (isUnchecked) abandonUnchecked(marker)
    else removeOrKeep(marker)
  })
}
