import fs from 'node:fs'
import path from 'node:path'
import { errorText } from '../disk/file-facts.ts'
import { makeOwnFolder, readInside } from '../disk/folders.ts'
import { sha256 } from '../disk/ids.ts'
import { removeFile, replaceFile, tryRemoveFile } from '../disk/write.ts'
import { anyHost } from '../hosts/all-hosts.ts'
import type { Occasion, Payload } from '../hosts/payload.ts'
import { PostflightError } from '../kernel/errors.ts'
import { JOURNAL_FOLDER, REPORTS_FOLDER, SPECS_FOLDER } from '../kernel/files.ts'
import { stripControl } from '../kernel/text.ts'
import { forEveryOne } from '../kernel/values.ts'
import { makeJournalFolder } from '../project/journal.ts'
import { type Answered, NOTHING_DONE } from '../stop/answer-for.ts'
import { blocks, type StopOutcome } from '../stop/plan.ts'
import { heldReport, notDone } from '../stop/stop-messages.ts'

/** A caller gets only its sub-agent's last message, perhaps "Done." (docs/design.md, "A sub-agent's report"). */

const MAX_BYTES = 65_536
/** In UTF-8. A report that was cut is shorter than `MAX_BYTES` by less than this. */
const MAX_CHARACTER_BYTES = 4
/** If a report is older, its agent never returned. */
const LIFETIME_MS = 86_400_000
/** A cloned repository may hold very many files. */
const MAX_SEARCHED = 100

export function keepReports(
  { payload, environment, roots, nowMs }: Occasion,
  outcomes: readonly StopOutcome[],
): string[] {
  const { event, agent, lastMessage } = payload
  const isBlocked = event === 'SubagentStop' && outcomes.some(blocks)
  if (!isBlocked || agent === undefined || lastMessage === undefined) return []
  if (!anyHost('handsOverReports', payload, environment)) return []
  // The caller's hook does not find a root in the sub-agent's worktree.
  const failures: unknown[] = []
  forEveryOne(roots, failures, (root) => keepReport(root, agent, lastMessage, nowMs))
  return failures.map((error) => notDone('keepReport', agent, errorText(error)))
}

export function handleReturn(
  { payload: { event }, roots }: Occasion,
  returned: NonNullable<Payload['returned']>,
): Answered {
  const failures: unknown[] = []
  // An agent that changed folders may have several reports.
  const kept = forEveryOne(roots, failures, (root) => takeReport(root, returned.agent) ?? [])
  const complaints = failures.map((error) => notDone('handOverReport', returned.agent, errorText(error)))
  const [longest] = kept.sort((one, other) => other.length - one.length)
  if (longest === undefined || comparable(returned.message).includes(comparable(longest))) {
    return { ...NOTHING_DONE, complaints }
  }
  const isCut = Buffer.byteLength(longest) > MAX_BYTES - MAX_CHARACTER_BYTES
  const context = heldReport(returned.agent, returned.agentType, longest, isCut)
  return { ...NOTHING_DONE, answer: { kind: 'context', event, context, limit: context.length }, complaints }
}

function comparable(text: string): string {
  return stripControl(text).replaceAll('\r\n', '\n').trim()
}

function keepReport(root: string, agent: string, report: string, nowMs: number): void {
  const folder = path.join(makeJournalFolder(root), REPORTS_FOLDER)
  if (!makeOwnFolder(folder)) removeOld(folder, nowMs)
  // As a stream, it ends with a whole character.
  const text = new TextDecoder().decode(Buffer.from(report).subarray(0, MAX_BYTES), { stream: true })
  const kept = readInside(folder, reportName(agent), MAX_BYTES)
  if (kept.kind === 'text' && Buffer.byteLength(kept.text) >= Buffer.byteLength(text)) return
  // A power cut loses a report, but no marker.
  replaceFile(path.join(folder, reportName(agent)), text, { durable: false })
}

/** Returns undefined if another hook has just taken it. */
function takeReport(root: string, agent: string): string | undefined {
  const relative = `${JOURNAL_FOLDER}/${REPORTS_FOLDER}/${reportName(agent)}`
  const specs = path.join(root, SPECS_FOLDER)
  const kept = readInside(specs, relative, MAX_BYTES)
  const file = path.join(specs, relative)
  if (kept.kind === 'absent') return undefined
  if (kept.kind === 'unreadable') throw new PostflightError('file-unreadable', { path: file, detail: kept.detail })
  return removeFile(file) ? kept.text : undefined
}

function reportName(agent: string): string {
  return /^[\w-]{1,100}$/.test(agent) ? agent : `sha256-${sha256(agent)}`
}

function removeOld(folder: string, nowMs: number): void {
  for (const name of fs.readdirSync(folder).slice(0, MAX_SEARCHED)) {
    const file = path.join(folder, name)
    const stats = fs.lstatSync(file, { throwIfNoEntry: false })
    if (stats?.isFile() && nowMs - stats.mtimeMs > LIFETIME_MS) tryRemoveFile(file)
  }
}
