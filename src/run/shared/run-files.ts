import fs from 'node:fs'
import path from 'node:path'
import { kindAt } from '../../disk/file-facts.ts'
import { inspectInside, makeFoldersInside } from '../../disk/folders.ts'
import { readSmallBytes } from '../../disk/read.ts'
import { removeFile, replaceFile } from '../../disk/write.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { ARTIFACTS_FOLDER, CHECKS_FOLDER, RUN_HISTORY_FILE, STEP_RESULTS_FOLDER } from '../../kernel/files.ts'
import { isReceiptName, STEP_RESULT_NAME } from '../../project/own-files.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import type { Definition } from '../definition/definition.ts'
import { isArchivedName } from '../machine/observation.ts'
import { stepResultFiles } from '../store/put-aside.ts'
import { MAX_FILES, MAX_TOTAL_BYTES, refused } from './ref-store.ts'

function isRunFile(definition: Definition, name: string): boolean {
  return stepFiles(definition).includes(name) || isPutAside(definition, name)
}

/** The artifacts that lists of steps are read from. */
function stepFiles({ phases }: Definition): string[] {
  return phases.flatMap(({ steps }) => (steps === undefined || steps.kind === 'list' ? [] : steps.artifact))
}

/** Whether `putAside` moves it once its run has ended. */
function isPutAside(definition: Definition, name: string): boolean {
  if (name === RUN_HISTORY_FILE || STEP_RESULT_NAME.test(name)) return true
  const [first = '', id = '', ...rest] = name.split('/')
  const file = rest.join('/')
  return definition.phases.some((phase) => {
    if (name === phase.artifact) return true
    if (phase.id !== id) return false
    if (first === ARTIFACTS_FOLDER) return isArchivedName(file, phase.artifact ?? '')
    if (first === CHECKS_FOLDER) return isReceiptName(file)
    return first === STEP_RESULTS_FOLDER && /^(?:visit-\d+\/)?[^/]+\.json$/.test(file)
  })
}

/** Returns the reason if they cannot be published. */
export function readRunFiles(folder: string, definition: Definition): Map<string, Buffer> | PostflightError {
  const artifacts = definition.phases.flatMap(({ artifact }) => artifact ?? [])
  const names = new Set([RUN_HISTORY_FILE, ...artifacts, ...stepFiles(definition), ...stepResultFiles(folder)])
  for (const location of [ARTIFACTS_FOLDER, CHECKS_FOLDER, STEP_RESULTS_FOLDER]) {
    for (const name of filesBelow(folder, location)) if (isRunFile(definition, name)) names.add(name)
  }
  const files = new Map<string, Buffer>()
  let bytes = 0
  for (const name of [...names].sort()) {
    const read = readRunFile(folder, name)
    if (read instanceof PostflightError) return read
    if (!Buffer.isBuffer(read)) continue
    bytes += read.length
    if (bytes > MAX_TOTAL_BYTES || files.size >= MAX_FILES) return tooLarge()
    files.set(name, read)
  }
  return files
}

function tooLarge(): PostflightError {
  return new PostflightError('shared-too-large', { files: MAX_FILES, megabytes: MAX_TOTAL_BYTES / 1_000_000 })
}

export function readRunFile(folder: string, name: string): Buffer | undefined | 'other' | PostflightError {
  const found = inspectInside(folder, name)
  if (found.kind === 'absent') return undefined
  if (found.kind !== 'file') return 'other'
  const read = readSmallBytes(found.path, MAX_TOTAL_BYTES)
  if (read.kind === 'absent') return undefined
  const { path } = found
  if (read.kind === 'unreadable') return new PostflightError('file-unreadable', { path, detail: read.detail })
  return read.whole ? Buffer.from(read.bytes) : tooLarge()
}

/** Deepest: `step-results/{phase}/visit-2/1-1.json`. */
const DEPTH = 3

/** Does not follow links. */
function filesBelow(folder: string, location: string, depth = DEPTH): string[] {
  const above = path.join(folder, ...location.split('/'))
  const kind = kindAt(above)
  if (kind === 'file') return [location]
  if (kind !== 'folder' || depth === 0) return []
  return fs.readdirSync(above).flatMap((name) => filesBelow(folder, `${location}/${name}`, depth - 1))
}

/** Replaces only files that were published or kept here (`bases`). Files of an `ended` run are put aside before. */
export function planPlacing(
  { path: folder, relative }: TaskFolder,
  definition: Definition,
  theirs: ReadonlyMap<string, Buffer>,
  bases: readonly ReadonlyMap<string, Buffer>[],
  ended: Definition | undefined,
) {
  for (const name of theirs.keys()) {
    if (!isRunFile(definition, name)) throw refused(`"${name}" is not a file of its workflow`)
  }
  const written = new Map<string, Buffer>()
  // A receipt describes the machine that ran the check; git may have brought it.
  const removed = filesBelow(folder, CHECKS_FOLDER).filter((name) => isRunFile(definition, name))
  const differing: string[] = []
  const left = namesLeft(folder, definition, theirs)
  for (const name of new Set([...theirs.keys(), ...bases.flatMap((base) => [...base.keys()]), ...left])) {
    if (name.startsWith(`${CHECKS_FOLDER}/`)) continue
    const wanted = theirs.get(name)
    const here = ended !== undefined && isPutAside(ended, name) ? undefined : readRunFile(folder, name)
    if (Buffer.isBuffer(here) && wanted?.equals(here) === true) continue
    // The history of a known run only grows here.
    const isKnown = Buffer.isBuffer(here) && bases.some((base) => base.get(name)?.equals(here) === true)
    const mayGo = here === undefined || isKnown || (name === RUN_HISTORY_FILE && bases.length > 0)
    if (mayGo && wanted !== undefined) written.set(name, wanted)
    else if (mayGo && here !== undefined) removed.push(name)
    else if (!mayGo && (wanted !== undefined || left.includes(name))) differing.push(name)
  }
  if (differing.length > 0)
    throw new PostflightError('shared-differs', { folder: relative, files: differing.join(', ') })
  return { written, removed }
}

/** Results that would count here, although the run has none: git may have checked them out again. */
export function namesLeft(folder: string, { phases }: Definition, theirs: ReadonlyMap<string, Buffer>): string[] {
  const archives = new Set([...theirs.keys()].map((name) => name.split('/').slice(0, 2).join('/')))
  const moved = phases.filter(({ id }) => archives.has(`${ARTIFACTS_FOLDER}/${id}`))
  const names = [...moved.flatMap(({ artifact }) => artifact ?? []), ...stepResultFiles(folder)]
  return names.filter((name) => !theirs.has(name))
}

export type Placing = Readonly<ReturnType<typeof planPlacing>>

/** Needs the run's lock. */
export function placeFiles(folder: string, { written, removed }: Placing): void {
  for (const [name, bytes] of written) {
    const above = path.posix.dirname(name)
    const parent = above === '.' ? folder : makeFoldersInside(folder, above)
    replaceFile(path.join(parent, path.posix.basename(name)), bytes)
  }
  for (const name of removed) removeFile(path.join(folder, ...name.split('/')))
}
