import fs from 'node:fs'
import path from 'node:path'
import { inspectInside, readInside } from '../../disk/folders.ts'
import { sha256 } from '../../disk/ids.ts'
import { readSmallBytes } from '../../disk/read.ts'
import { CHECKS_FOLDER } from '../../kernel/files.ts'
import { quote, stripControl } from '../../kernel/text.ts'
import { attempt } from '../../kernel/values.ts'
import { failureWords, NO_OUTPUT } from '../../marker/check-messages.ts'
import { isReceiptName } from '../../project/own-files.ts'
import { runCommandLine, type TaskFolder } from '../../project/task-folder.ts'
import type { Phase } from '../definition/phase-fields.ts'
import { type BoundFile, parseReceipt, type Receipt } from '../machine/receipt.ts'
import { visitsOf, type WorkflowState } from '../machine/state.ts'
import { namesIn } from './put-aside.ts'

/** Runs nothing, because hooks use it. */

/** In bytes. */
const RECEIPT_LIMIT = 1_048_576
/** In characters. */
const OUTPUT_LIMIT = 2_000
/** In bytes: OpenCode's server may be blocked for 50 ms, and hashing a MiB takes up to 5 ms. */
const HASH_LIMIT = 4_194_304

/** Names the root: an agent may have left the project's folder. */
export function checkCommand(folder: TaskFolder): string {
  return runCommandLine(folder, 'check', folder.root)
}

export function checkBreach(folder: TaskFolder, state: WorkflowState, { check, artifact = '' }: Phase) {
  if (check.run === undefined) return undefined
  const command = checkCommand(folder)
  const named = `the check \`${quote(check.run, 200)}\``
  const receipt = lastReceipt(folder.path, state)
  if (receipt === undefined || receipt.run !== check.run) return `${named} was not run: \`${command}\` runs it`
  const changed = isUnchanged(folder.path, artifact, receipt) ? changedFile(folder, receipt.files) : artifact
  if (changed !== undefined) {
    return `${quote(changed, 200)} changed after ${named} had run, so its result no longer counts: \`${command}\` runs it again`
  }
  if (receipt.failure === undefined) return undefined
  const failure = failureWords(receipt.failure)
  return `${named} failed (${failure}); \`${command}\` runs it again. The end of its output:\n${endOf(receipt.output)}`
}

function endOf(output: string): string {
  const text = stripControl(output).trim()
  if (text === '') return NO_OUTPUT
  const end = text.slice(-OUTPUT_LIMIT)
  return end === text ? text : `…${end.slice(end.indexOf('\n') + 1)}`
}

export function receiptLocation(state: WorkflowState): { readonly folder: string; readonly name: string } {
  const attempt = state.phaseAttempts + 1
  return { folder: `${CHECKS_FOLDER}/${state.phase}`, name: `${visitsOf(state, state.phase)}-${attempt}.json` }
}

function lastReceipt(folder: string, state: WorkflowState): Receipt | undefined {
  const { folder: location } = receiptLocation(state)
  const visit = `${location}/${visitsOf(state, state.phase)}-`
  const names = namesIn(folder, location, isReceiptName).filter((name) => name.startsWith(visit))
  // Only what is there: the state's count of attempts may be any number in a clone.
  const attempts = names.map((name) => Number.parseInt(name.slice(visit.length), 10))
  const possible = attempts.filter((attempt) => attempt <= state.phaseAttempts + 1)
  for (const attempt of possible.sort((one, other) => other - one)) {
    const read = readInside(folder, `${visit}${attempt}.json`, RECEIPT_LIMIT)
    if (read.kind !== 'text' || !read.whole) continue
    const receipt = parseReceipt(read.text)
    return receipt?.runId === state.id ? receipt : undefined
  }
  return undefined
}

export function boundArtifact(folder: string, artifact: string): Pick<Receipt, 'artifact' | 'artifactTimes'> {
  // Times are read first, so that they cover no change that the hash does not.
  const artifactTimes = timesOf(folder, artifact)
  return { artifact: hashOf(folder, artifact), artifactTimes }
}

function isUnchanged(folder: string, artifact: string, receipt: Receipt): boolean {
  const [then, now] = [receipt.artifactTimes, timesOf(folder, artifact)]
  if (now === undefined) return false
  if (then?.size === now.size && then.modifiedMs === now.modifiedMs && then.changedMs === now.changedMs) return true
  // Large artifacts have no hash, so a touched one counts as changed.
  const hash = hashOf(folder, artifact)
  return hash !== '' && receipt.artifact === hash
}

function timesOf(folder: string, artifact: string): Receipt['artifactTimes'] {
  const found = attempt(() => inspectInside(folder, artifact))
  return found?.kind === 'file' ? found : undefined
}

function hashOf(folder: string, artifact: string): string {
  const found = attempt(() => inspectInside(folder, artifact))
  if (found?.kind !== 'file' || found.size > HASH_LIMIT) return ''
  const read = readSmallBytes(found.path, HASH_LIMIT)
  return read.kind === 'bytes' && read.whole ? sha256(read.bytes) : ''
}

function changedFile(folder: TaskFolder, files: readonly BoundFile[]): string | undefined {
  return files.find(({ path: name, size, mtimeMs }) => {
    const seen = versionOf(path.join(name.startsWith('./') ? folder.path : folder.root, name))
    return seen?.size !== size || seen.mtimeMs !== mtimeMs
  })?.path
}

export function versionOf(file: string): Omit<BoundFile, 'path'> | undefined {
  const stats = attempt(() => fs.lstatSync(file, { throwIfNoEntry: false }))
  return stats?.isFile() ? { size: stats.size, mtimeMs: stats.mtimeMs } : undefined
}
