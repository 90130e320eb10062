import fs from 'node:fs'
import path from 'node:path'
import { errorText } from '../disk/file-facts.ts'
import { readInside } from '../disk/inside.ts'
import { hideFromGit, makeOwnFolder } from '../disk/own-folder.ts'
import { removeFile, replaceFile, tryRemoveFile } from '../disk/write.ts'
import { hasDoneFile } from '../done/done-file.ts'
import { exemptionOf, handsOverReports } from '../hosts/all-hosts.ts'
import type { Occasion } from '../hosts/occasion.ts'
import { PostflightError } from '../kernel/errors.ts'
import { JOURNAL_FOLDER, REPORTS_FOLDER, SPECS_FOLDER } from '../kernel/files.ts'
import { stripControl } from '../kernel/text.ts'
import type { SearchProblem } from '../project/task-folder.ts'
import { runFileNames } from '../run/store/run-file.ts'
import { type Answered, NOTHING_DONE } from '../stop/answer-for.ts'
import { answerStop, type DonePart, NO_RUNS, type StopOfRuns } from '../stop/answer-stop.ts'
import { heldReport, reportNotHandedOver, reportNotKept, unreadableNotice } from '../stop/stop-messages.ts'
import type { StopOutcome } from '../stop/stop-outcome.ts'
import { loadDone, loadWorkflowDriver } from './load-workflow.ts'

/**
 * Handles `SubagentStop` and `Stop`, and the return of a sub-agent to its caller. The report of a sub-agent whose stop is
 * blocked is kept until then (docs/design.md, "A sub-agent's report"): a host hands only the last message to the caller,
 * and after a block that may be "Done."
 */

/** A longer report is cut (bytes). */
const MAX_BYTES = 65_536

/** A report older than this (ms) belongs to an agent that never returned. */
const LIFETIME_MS = 86_400_000

/** The maximum number of files that one call examines to remove old ones: a cloned repository may hold very many. */
const MAX_LOOKED_AT = 100

/** Answers a stop. */
export function handleStop(occasion: Occasion): Answered {
  if (exemptionOf(occasion.payload, occasion.environment) !== undefined) return NOTHING_DONE
  const stop = answerStop(occasion, (isBlocked) => driveRuns(occasion, isBlocked), doneAt(occasion))
  return { ...stop, complaints: keepReports(occasion, stop.outcomes) }
}

/** The definition of done at a stop; undefined where there is none. */
function doneAt(occasion: Occasion): DonePart | undefined {
  const { payload, roots } = occasion
  const withDone = payload.event === 'Stop' ? roots.filter(hasDoneFile) : []
  if (withDone.length === 0) return undefined
  return loadDone().doneAtStop(withDone, occasion, () => {
    const busy = roots.filter((root) => runFileNames(root).length > 0)
    return busy.length > 0 && loadWorkflowDriver().hasRunOf(busy, payload.session)
  })
}

/** Moves the running workflows of this session on. Their driver is loaded only if run files lie in a root. */
function driveRuns(occasion: Occasion, isBlocked: boolean): StopOfRuns {
  const { session } = occasion.payload
  const problems: SearchProblem[] = []
  const roots = occasion.roots.filter((root) => runFileNames(root, problems).length > 0)
  if (session === undefined || roots.length === 0) return { ...NO_RUNS, problems }
  try {
    return { ...loadWorkflowDriver().driveRuns(roots, occasion, isBlocked), problems }
  } catch (error) {
    const notices = roots.map((root) => unreadableNotice(root, errorText(error)))
    return { ...NO_RUNS, report: { prompt: undefined, notices }, problems }
  }
}

/** Keeps the last message of a sub-agent whose stop is blocked. Returns the complaints: the block stands in any case. */
function keepReports({ payload, environment, roots, nowMs }: Occasion, outcomes: readonly StopOutcome[]): string[] {
  const { event, agent, lastMessage } = payload
  const isBlocked = event === 'SubagentStop' && outcomes.some(({ kind }) => kind === 'blocked')
  if (!isBlocked || agent === undefined || lastMessage === undefined) return []
  if (!handsOverReports(payload, environment)) return []
  // A sub-agent in a worktree has its own root besides the project's, and its caller's hook does not find that one.
  return roots.flatMap((root) => {
    try {
      keepReport(root, agent, lastMessage, nowMs)
      return []
    } catch (error) {
      return [reportNotKept(agent, errorText(error))]
    }
  })
}

/** Handles the return of a sub-agent. Its caller gets the kept report if the agent's last message lacks it. */
export function handleReturn({ payload, roots }: Occasion): Answered {
  const { event, returned } = payload
  if (returned === undefined) return NOTHING_DONE
  const complaints: string[] = []
  // An agent that changed its folder may have reports in several roots: all of them go, and the longest is handed over.
  const kept = roots.flatMap((root) => {
    try {
      return takeReport(root, returned.agent) ?? []
    } catch (error) {
      complaints.push(reportNotHandedOver(returned.agent, errorText(error)))
      return []
    }
  })
  const [longest] = kept.sort((one, other) => other.length - one.length)
  if (longest === undefined || comparable(returned.message).includes(comparable(longest))) {
    return { ...NOTHING_DONE, complaints }
  }
  const context = heldReport(returned.agent, returned.agentType, longest)
  return { ...NOTHING_DONE, answer: { kind: 'context', event, context, limit: context.length }, complaints }
}

/** A text as it is printed, trimmed. */
function comparable(text: string): string {
  return stripControl(text).replaceAll('\r\n', '\n').trim()
}

/** Keeps the report of an agent, unless a longer one of it is kept already. @throws file-system errors. */
function keepReport(root: string, agent: string, report: string, nowMs: number): void {
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
function takeReport(root: string, agent: string): string | undefined {
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
