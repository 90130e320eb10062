import fs from 'node:fs'
import path from 'node:path'
import { sha256 } from '../../disk/hash.ts'
import { lookInside, readInside } from '../../disk/inside.ts'
import { readSmallBytes } from '../../disk/read.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { SPECS_FOLDER } from '../../kernel/files.ts'
import { stripControl } from '../../kernel/text.ts'
import { CHECK_TEXT } from '../../marker/check-messages.ts'
import { SPECS_ITSELF } from '../../project/task-folder.ts'
import type { Phase } from '../definition/phase-fields.ts'
import { type ArtifactTimes, type BoundFile, CHECKS_FOLDER, parseReceipt, type Receipt } from '../machine/receipt.ts'
import { visitsOf, type WorkflowState } from '../machine/state.ts'
import { WORKFLOW_TEXT } from '../run-messages.ts'

/** Reads the receipts of checks, and compares the files that they are bound to. Runs nothing: hooks use it. */

/** The size of the largest receipt that is read, in bytes. */
const RECEIPT_LIMIT = 1_048_576

/** The characters of a failed check's output that the next prompt shows. */
const OUTPUT_LIMIT = 2_000

/** A larger artifact (in bytes) is not hashed: OpenCode's server may be held for 50 ms, and a MiB takes up to 5. */
const HASH_LIMIT = 4_194_304

/**
 * The command that runs the check of the run in a task folder. It names the root: an agent may have left the project's
 * folder.
 */
export function checkCommand(folder: string): string {
  const parts = folder.split(path.sep)
  const at = parts.lastIndexOf(SPECS_FOLDER)
  const task = parts.at(-1) === SPECS_FOLDER ? SPECS_ITSELF : (parts.at(-1) ?? '')
  return commandLine(['workflow', 'check', task], at > 0 ? parts.slice(0, at).join(path.sep) : undefined)
}

/** Why the check of a phase does not let it pass; undefined if it does. `command` is the one that the agent runs. */
export function checkBreach(
  folder: string,
  state: WorkflowState,
  { check, artifact = '' }: Phase,
  command: string,
): string | undefined {
  if (check.run === undefined) return undefined
  const receipt = lastReceipt(folder, state)
  if (receipt === undefined || receipt.run !== check.run) return WORKFLOW_TEXT.checkNotRun(check.run, command)
  const changed = isUnchanged(folder, artifact, receipt) ? changedFile(folder, receipt.files) : artifact
  if (changed !== undefined) return WORKFLOW_TEXT.checkVoid(check.run, changed, command)
  return receipt.failure === undefined
    ? undefined
    : `${WORKFLOW_TEXT.checkFailed(check.run, receipt.failure, command)}\n${endOf(receipt.output)}`
}

/** The end of a check's output, from the beginning of a line. */
function endOf(output: string): string {
  const text = stripControl(output).trim()
  if (text === '') return CHECK_TEXT.silent.trim()
  const end = text.slice(-OUTPUT_LIMIT)
  return end === text ? text : `…${end.slice(end.indexOf('\n') + 1)}`
}

/** The path of the receipt of the current attempt, in the task folder. */
export function receiptPlace(state: WorkflowState): { readonly folder: string; readonly name: string } {
  const attempt = state.phaseAttempts + 1
  return { folder: `${CHECKS_FOLDER}/${state.phase}`, name: `${visitsOf(state, state.phase)}-${attempt}.json` }
}

/** The last receipt of the phase's current visit, if it is one of this run. */
function lastReceipt(folder: string, state: WorkflowState): Receipt | undefined {
  const visit = visitsOf(state, state.phase)
  const { folder: place } = receiptPlace(state)
  for (let attempt = state.phaseAttempts + 1; attempt > 0; attempt--) {
    const read = readInside(folder, `${place}/${visit}-${attempt}.json`, RECEIPT_LIMIT)
    if (read.kind !== 'text' || !read.whole) continue
    const receipt = parseReceipt(read.text)
    return receipt?.runId === state.id ? receipt : undefined
  }
  return undefined
}

/** What a receipt holds of an artifact as it is now. */
export function boundArtifact(folder: string, artifact: string): Pick<Receipt, 'artifact' | 'artifactTimes'> {
  // The times first: they must not be those of a change that the hash does not cover.
  const artifactTimes = timesOf(folder, artifact)
  return { artifact: hashOf(folder, artifact), artifactTimes }
}

/** False also for an artifact that cannot be read, and for a large one that was only touched. */
function isUnchanged(folder: string, artifact: string, receipt: Receipt): boolean {
  const [then, now] = [receipt.artifactTimes, timesOf(folder, artifact)]
  if (now === undefined) return false
  if (then?.size === now.size && then.modifiedMs === now.modifiedMs && then.changedMs === now.changedMs) return true
  const hash = hashOf(folder, artifact)
  return hash !== '' && receipt.artifact === hash
}

function timesOf(folder: string, artifact: string): ArtifactTimes | undefined {
  try {
    const found = lookInside(folder, artifact)
    if (found.kind !== 'file') return undefined
    const { size, modifiedMs, changedMs } = found
    return { size, modifiedMs, changedMs }
  } catch {
    return undefined
  }
}

/** The hash of an artifact's bytes; empty where it is large or cannot be read. */
function hashOf(folder: string, artifact: string): string {
  try {
    const found = lookInside(folder, artifact)
    if (found.kind !== 'file' || found.size > HASH_LIMIT) return ''
    const read = readSmallBytes(found.path, HASH_LIMIT)
    if (read.kind !== 'bytes' || !read.whole) return ''
    return sha256(read.bytes)
  } catch {
    return ''
  }
}

/** The first file that has changed, for people. */
function changedFile(folder: string, files: readonly BoundFile[]): string | undefined {
  return files.find(({ path: name, size, mtimeMs }) => {
    const seen = boundFile(folder, path.join(folder, name))
    return seen?.size !== size || seen.mtimeMs !== mtimeMs
  })?.path
}

/** A file as a receipt names it; undefined where there is none. */
export function boundFile(folder: string, file: string): BoundFile | undefined {
  try {
    const stats = fs.lstatSync(file, { throwIfNoEntry: false })
    if (!stats?.isFile()) return undefined
    const relative = path.relative(folder, file).split(path.sep).join('/')
    return { path: relative, size: stats.size, mtimeMs: stats.mtimeMs }
  } catch {
    return undefined
  }
}
