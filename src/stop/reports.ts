import fs from 'node:fs'
import path from 'node:path'
import { readInside } from '../disk/inside.ts'
import { hideFromGit, makeOwnFolder } from '../disk/own-folder.ts'
import { removeFile, replaceFile, tryRemoveFile } from '../disk/write.ts'
import { PostflightError } from '../kernel/errors.ts'
import { JOURNAL_FOLDER, REPORTS_FOLDER, SPECS_FOLDER } from '../kernel/files.ts'

/**
 * Keeps the reports of sub-agents whose stop was blocked (docs/design.md, "A sub-agent's report"): one file for each
 * agent, until the agent returns to its caller.
 */

/** A longer report is cut (bytes). */
const MAX_BYTES = 65_536

/** A report older than this (ms) belongs to an agent that never returned. */
const LIFETIME_MS = 86_400_000

/** The maximum number of files that one call examines to remove old ones: a cloned repository may hold very many. */
const MAX_LOOKED_AT = 100

/** Keeps the report of an agent, unless a longer one of it is kept already. @throws file-system errors. */
export function keepReport(root: string, agent: string, report: string, nowMs: number): void {
  const own = path.join(root, SPECS_FOLDER, JOURNAL_FOLDER)
  if (makeOwnFolder(own)) hideFromGit(own)
  const folder = path.join(own, REPORTS_FOLDER)
  if (!makeOwnFolder(folder)) removeOld(folder, nowMs)
  const bytes = beginningOf(Buffer.from(report))
  const kept = readInside(folder, fileNameOf(agent), MAX_BYTES)
  if (kept.kind === 'text' && Buffer.byteLength(kept.text) >= bytes.length) return
  // The count of the block is durable; a report that a power cut loses costs no promise.
  replaceFile(path.join(folder, fileNameOf(agent)), bytes.toString('utf8'), undefined, false)
}

/**
 * Removes the kept report of an agent and returns it; undefined where there is none, or another hook has just taken it.
 * @throws {PostflightError} `file-unreadable` for anything but a file; file-system errors.
 */
export function takeReport(root: string, agent: string): string | undefined {
  const relative = `${JOURNAL_FOLDER}/${REPORTS_FOLDER}/${fileNameOf(agent)}`
  const specs = path.join(root, SPECS_FOLDER)
  const kept = readInside(specs, relative, MAX_BYTES)
  const file = path.join(specs, relative)
  if (kept.kind === 'absent') return undefined
  if (kept.kind === 'unreadable') throw new PostflightError('file-unreadable', { path: file, detail: kept.detail })
  return removeFile(file) ? kept.text : undefined
}

/** The name of an agent's file: its id, or a hash of an id that could be anything else than a plain name. */
function fileNameOf(agent: string): string {
  if (/^[\w-]{1,100}$/.test(agent)) return agent
  return `sha256-${process.getBuiltinModule('node:crypto').createHash('sha256').update(agent).digest('hex')}`
}

/** At most `MAX_BYTES` of the text, which end with a whole character. */
function beginningOf(bytes: Buffer): Buffer {
  let end = Math.min(bytes.length, MAX_BYTES)
  while (end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1
  return bytes.subarray(0, end)
}

function removeOld(folder: string, nowMs: number): void {
  for (const name of fs.readdirSync(folder).slice(0, MAX_LOOKED_AT)) {
    const file = path.join(folder, name)
    const stats = fs.lstatSync(file, { throwIfNoEntry: false })
    if (stats?.isFile() && nowMs - stats.mtimeMs > LIFETIME_MS) tryRemoveFile(file)
  }
}
