import path from 'node:path'
import { isPast, partWay } from '../disk/age.ts'
import { kindAt } from '../disk/file-facts.ts'
import { newMarkerId } from '../disk/ids.ts'
import { HOOK_PATIENCE_MS } from '../disk/lock.ts'
import { MAIN_AGENT, mayGetWork, type Occasion, type Payload } from '../hosts/payload.ts'
import { commandLine, personNote, rootOptionFor } from '../kernel/command-line.ts'
import { PostflightError } from '../kernel/errors.ts'
import { ABANDONED_FILE, MARKER_FILE } from '../kernel/files.ts'
import { toIsoSeconds } from '../kernel/time.ts'
import { isJsonObject } from '../kernel/values.ts'
import { prepareClaims } from '../marker/count/claim-files.ts'
import { readCount, showCount } from '../marker/count/count.ts'
import { CONTINUATION_LIMIT, isSpent } from '../marker/loop-guard.ts'
import { commandsOf, type Marker, parseMarker, withFields } from '../marker/marker.ts'
import { changeMarker, endMarker, readMarker, writeNewMarker } from '../marker/marker-store.ts'
import type { StoredMarker } from '../marker/stored-marker.ts'
import type { Recorded } from '../project/journal-entry.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { DONE_WORD } from '../project/task-folders.ts'
import { askedOften, DONE_REASON, doneAtStart, ruleName, searchEnded } from './done-rules.ts'
import {
  abandonedBaseline,
  aboutOf,
  askedAt,
  endBypass,
  isFirstNotice,
  makeSessionFolder,
  noteResume,
  promptOf,
  readBaseline,
  readBypass,
  readReceipts,
  removeOldFolders,
  sessionFolder,
  touchFolder,
  writeBaseline,
} from './done-state.ts'
import { FileSearch, isSearched, judgeRules, MAX_CHANGED, MAX_ENTRIES, SEARCH_MS } from './search.ts'
import { doneStatus, requireTrusted } from './trust-store.ts'

export function isJudged(payload: Payload): boolean {
  return payload.session !== undefined && mayGetWork(payload)
}

/** The rest of the time is for acting. */
const SEARCHING_SHARE = 0.6

export async function searchFor(root: string, occasion: Occasion): Promise<FileSearch> {
  const { deadline } = occasion
  const search = new FileSearch(root, partWay(deadline, SEARCHING_SHARE))
  // A server, which has no deadline, searches without blocking the event loop.
  if (deadline === undefined) await search.prepare(requireTrusted(root, occasion)?.rules ?? [])
  return search
}

/** Returns the reason if nothing is judged. */
export function judgeDone(root: string, stop: Occasion, search: FileSearch) {
  const { payload, nowMs, deadline } = stop
  const copy = requireTrusted(root, stop)
  if (copy === undefined) return 'untrusted'
  if (payload.session === undefined) return 'no-session'
  if (isPast(deadline)) return 'no-time'
  const folder = sessionFolder(root, payload.session)
  const read = readMarker(folder)
  const pending = read?.kind === 'marker' ? read : undefined
  // The rules for all markers judge an unreadable one and end a bypassed one.
  if (read?.kind === 'unreadable' || pending?.marker.bypassed === true) return 'marker-decides'
  // A stop never removes the folder. Without it, the count of this prompt's blocks is lost.
  if (payload.followsBlock === true && kindAt(folder.path) === undefined) return 'folder-gone'
  const bornMs = stop.sessionBornMs
  const baseline = readBaseline(folder) ?? (bornMs === undefined ? undefined : { sinceMs: bornMs, paths: {} })
  if (baseline === undefined) return 'no-baseline'
  const bypass = readBypass(folder, copy)
  const ends = [abandonedBaseline(folder), bypass].filter((one) => one !== undefined)
  const states = judgeRules(copy.rules, search, [baseline, ...ends], readReceipts(root, copy, nowMs))
  const prompt = promptOf(payload, folder)
  return {
    folder,
    pending,
    states,
    due: states.filter(({ isDue }) => isDue),
    prompt,
    stop,
    isBypassed: bypass !== undefined && bypass.prompt === undefined,
    isAsked: ends.every((end) => end.prompt !== prompt),
    asked: askedAt(folder, prompt, stop.roots),
  }
}

export type JudgedDone = Exclude<ReturnType<typeof judgeDone>, string>

export function armAtStop(
  root: string,
  stop: Occasion,
  search: FileSearch,
): { readonly recorded: readonly Recorded[]; readonly notices: readonly string[] } {
  const judged = judgeDone(root, stop, search)
  if (typeof judged === 'string') return { recorded: [], notices: [] }
  const { folder, states, prompt } = judged
  makeSessionFolder(folder)
  let recorded: Recorded[]
  try {
    recorded = act(judged)
  } catch (error) {
    // `done` or `rm` has just removed the marker.
    if (error instanceof PostflightError && ['marker-none', 'marker-vanished'].includes(error.code)) {
      return armAtStop(root, stop, search)
    }
    throw error
  }
  // Each is shown once, so not before the last lock: a caller that may not wait for it tries again.
  const unsearched = states.filter((state) => !isSearched(state) && isFirstNotice(folder, `search ${state.key}`))
  const notices = unsearched.map(({ rule }) => searchEnded(ruleName(rule), MAX_ENTRIES, SEARCH_MS / 1000))
  const isOften = isNewlyDue(judged) && isSpent(judged.asked)
  if (isOften && isFirstNotice(folder, `asked ${prompt}`)) notices.push(askedOften(CONTINUATION_LIMIT))
  return { recorded, notices }
}

function act(judged: JudgedDone): Recorded[] {
  const { folder, pending, states, prompt, isBypassed } = judged
  // From now on changes count again, but only after another prompt.
  if (isBypassed) endBypass(folder, pathsOf(states), prompt)
  else if (pending !== undefined) return refresh(pending, judged)
  else if (isNewlyDue(judged) && !isShown(judged)) return arm(judged)
  return []
}

function isNewlyDue({ pending, due, isAsked, isBypassed }: JudgedDone): boolean {
  return pending === undefined && due.length > 0 && isAsked && !isBypassed
}

/** The marker that `armAtStop` would leave. */
export function predictMarker(judged: JudgedDone): StoredMarker | undefined {
  const { folder, pending, due, isBypassed, stop } = judged
  if (pending === undefined) {
    if (!isNewlyDue(judged) || isShown(judged)) return undefined
    const marker = parseMarker(JSON.stringify(newFields(judged)))
    const times = { modifiedMs: stop.nowMs, changedMs: stop.nowMs }
    const identity = { id: marker.id, file: '' }
    return { kind: 'marker', folder, fileName: MARKER_FILE, marker, text: '', identity, times }
  }
  const { fields } = pending.marker
  if (isProven(judged) && !isBypassed) return undefined
  if (isBypassed || due.length === 0 || fields === undefined) return pending
  return { ...pending, marker: parseMarker(JSON.stringify(withFields(fields, refreshed(pending.marker, judged)))) }
}

function isProven({ due, states }: JudgedDone): boolean {
  return due.length === 0 && states.every(isSearched)
}

/** Unproven work must stay visible: without blocks left, the marker is made and abandoned immediately. */
function isShown({ folder, asked }: JudgedDone): boolean {
  return isSpent(asked) && kindAt(path.join(folder.path, ABANDONED_FILE)) !== undefined
}

function pathsOf(states: JudgedDone['states']): Record<string, string> {
  return Object.fromEntries(states.flatMap(({ key, paths }) => (paths === undefined ? [] : [[key, paths]])))
}

function newFields({ folder, due, states, prompt, asked, stop }: JudgedDone): Record<string, unknown> {
  const { payload, nowMs } = stop
  return {
    id: newMarkerId(),
    session_id: `done_${payload.session}`,
    skill: DONE_WORD,
    task_number: 0,
    operation: 'definition of done',
    reason: reasonFor(folder.root, due, stop),
    created: toIsoSeconds(nowMs),
    stop_hook_active: false,
    cc_session_id: payload.session,
    agent_id: MAIN_AGENT,
    checks: checksOf(due).map((run) => ({ run })),
    // If the prompt has no blocks left, the agent was not asked about these changes: the next prompt does that.
    ...(!isSpent(asked) && { done: { prompt_id: prompt, paths: pathsOf(states) } }),
  }
}

function arm(judged: JudgedDone): Recorded[] {
  const { folder, due, asked, stop } = judged
  const fields = newFields(judged)
  const plan = (old?: StoredMarker) => ({ fields: old?.marker.fields ?? fields, keepsCount: old !== undefined })
  const { keepsCount } = writeNewMarker(folder, plan, { patienceMs: HOOK_PATIENCE_MS })
  showAsked(folder, asked)
  if (keepsCount) return []
  const about = { markerId: String(fields.id), task: folder.task, hostSession: stop.payload.session, agent: MAIN_AGENT }
  return [{ root: folder.root, entry: { event: 'create', ...about, checks: checksOf(due) } }]
}

function refresh(pending: StoredMarker, judged: JudgedDone): Recorded[] {
  const { folder, due, prompt, asked, stop } = judged
  if (isProven(judged)) return removeProven(pending)
  showAsked(folder, asked)
  if (due.length === 0) return []
  const isSame =
    reasonFor(folder.root, due, stop) === pending.marker.fields?.reason &&
    checksOf(due).join('\0') === commandsOf(pending.marker.checks).join('\0')
  if (isSame && aboutOf(pending.marker).prompt === prompt) return []
  const isRead = (present: Marker): boolean => present.id === pending.marker.id && present.fields !== undefined
  const plan = (present: Marker) => (isRead(present) ? { fields: refreshed(present, judged) } : undefined)
  changeMarker(folder, plan, { patienceMs: HOOK_PATIENCE_MS })
  return []
}

function refreshed({ fields }: Marker, { folder, due, states, prompt, stop }: JudgedDone): Record<string, unknown> {
  const items = Array.isArray(fields?.checks) ? fields.checks.filter(isJsonObject) : []
  return {
    reason: reasonFor(folder.root, due, stop),
    checks: checksOf(due).map((run) => items.find((item) => item.run === run) ?? { run }),
    done: { prompt_id: prompt, paths: pathsOf(states) },
  }
}

function removeProven({ folder, identity, marker }: StoredMarker): Recorded[] {
  const isSame = (present: StoredMarker): boolean => present.identity.file === identity.file
  if (endMarker(folder, isSame, false) === undefined) return []
  const about = { markerId: marker.id, task: folder.task, hostSession: marker.hostSession, agent: MAIN_AGENT }
  const detail = 'no rule is due any more'
  return [{ root: folder.root, entry: { event: 'clear', outcome: 'cleared', settles: [], ...about, detail } }]
}

function showAsked(folder: TaskFolder, asked: number): void {
  const read = readMarker(folder)
  if (asked === 0 || read?.kind !== 'marker' || readCount(folder.path, read.identity).spent >= asked) return
  prepareClaims(folder.path)
  showCount(folder.path, asked)
}

function checksOf(due: JudgedDone['due']): string[] {
  return [...new Set(due.flatMap(({ rule }) => rule.checks))]
}

const MAX_LISTED_RULES = 5

function reasonFor(root: string, due: JudgedDone['due'], { reader }: Occasion): string {
  const wait = `${commandLine(['wait', DONE_WORD], rootOptionFor(reader, root))} --for`
  const more = due.length - MAX_LISTED_RULES
  return [
    DONE_REASON.intro,
    ...due
      .slice(0, MAX_LISTED_RULES)
      .map(({ rule, changed }) => DONE_REASON.rule(ruleName(rule), changed, changed.length === MAX_CHANGED)),
    ...(more > 0 ? [DONE_REASON.more(more)] : []),
    DONE_REASON.notYours(wait),
  ].join('\n')
}

/** The answer repeats none of the file's text, which may have come with a clone. */
export async function startDone(root: string, occasion: Occasion): Promise<readonly string[]> {
  const { payload, nowMs } = occasion
  const copy = requireTrusted(root, occasion)
  if (copy !== undefined && payload.session !== undefined) {
    const folder = sessionFolder(root, payload.session)
    // After a compaction a folder that is gone took its count of blocked stops with it.
    if (payload.isCompacted !== true) {
      if (readBaseline(folder) !== undefined) noteResume(folder, nowMs)
      else {
        const search = await searchFor(root, occasion)
        writeBaseline(folder, pathsOf(judgeRules(copy.rules, search, [], readReceipts(root, copy, nowMs))))
      }
    }
    touchFolder(folder)
  }
  if (copy !== undefined) removeOldFolders(root, nowMs)
  return noticesAtStart(root, occasion)
}

export function noticesAtStart(root: string, occasion: Occasion): readonly string[] {
  const { payload, reader } = occasion
  const status = doneStatus(root, occasion)
  const hasNotice = status === 'untrusted' || status === 'changed' || status === 'unreadable'
  if (!hasNotice || payload.isCompacted === true) return []
  const rootOption = rootOptionFor(reader, root)
  return [doneAtStart(status, commandLine(['trust'], rootOption)) + personNote(reader, ['trust'], rootOption)]
}
