import fs from 'node:fs'
import path from 'node:path'
import { isAgentShell, shellIdentity } from '../../hosts/all-hosts.ts'
import { errorMessage } from '../../kernel/error-messages.ts'
import { type ErrorArguments, PostflightError } from '../../kernel/errors.ts'
import { ABANDONED_FILE, MARKER_FILE, RETURN_META_FILE, UNPARSED_FILE } from '../../kernel/files.ts'
import { CHECK_TEXT, checkList, failureWords, since } from '../../marker/check-messages.ts'
import { type Cleared, clearableFiles, clearFolder, isAbandonedName } from '../../marker/clear-files.ts'
import { forgetGivenUp } from '../../marker/given-up.ts'
import {
  type CheckCaller,
  type CheckDecision,
  decideFolder,
  type Marker,
  mayHaveChecks,
  remainingSteps,
} from '../../marker/marker.ts'
import { readMarker } from '../../marker/marker-file.ts'
import type { RunCheck } from '../../marker/run-checks.ts'
import { markerDisplayPath, markerKey, type StoredMarker, type UnreadableMarker } from '../../marker/stored-marker.ts'
import { type CommandContext, recordInJournal } from '../../project/command-context.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import { isMeant, readReference } from '../../project/task-folders.ts'
import { findLostMarkers, type LostMarker } from '../../views/status/lost-markers.ts'
import { CLEAR_DETAILS, CLEAR_TEXT, type ClearDocument } from './clear-view.ts'

interface Clearing {
  readonly returnMeta: boolean
  readonly dryRun: boolean
  readonly runChecks: boolean
  readonly unchecked: boolean
  readonly orphaned: boolean
  readonly timeout: number
  /** Then its `.return-meta.json` goes without other files of ours. */
  readonly isNamed: boolean
  readonly isOrphaned: (present: StoredMarker | undefined) => boolean
}

type Result =
  | {
      readonly kind: 'cleared'
      readonly data: ClearDocument['cleared'][number]
      readonly notes: readonly string[]
      readonly settles: readonly (string | undefined)[]
    }
  | { readonly kind: 'kept'; readonly data: ClearDocument['kept'][number]; readonly lines: readonly string[] }

interface Markers {
  readonly pending: Marker | undefined
  readonly abandoned: readonly Marker[]
}

export async function clearOne(
  context: CommandContext,
  folder: TaskFolder,
  clearing: Clearing,
): Promise<Result | undefined> {
  const files = clearableFiles(folder, clearing.returnMeta)
  // `--all --return-meta` removes a return file only from a folder that holds other files of ours.
  if (!files.some((name) => clearing.isNamed || name !== RETURN_META_FILE)) return undefined
  const session = shellIdentity(context.environment)?.session
  const caller = { session, runChecks: clearing.runChecks }
  const before = markersIn(folder, files)
  const skipsChecks = clearing.unchecked || clearing.orphaned
  const decision: CheckDecision = skipsChecks
    ? { kind: 'free' }
    : decideFolder(before.pending, before.abandoned, caller)
  if (decision.kind === 'refused') return refused(folder, before, decision.why, decision.commands)
  const commands = decision.kind === 'run' ? decision.commands : []
  if (clearing.dryRun) return wouldClear(folder, files, commands)
  let done: readonly RunCheck[] = []
  if (decision.kind === 'run') {
    const { prove } = await import('../../marker/prove.ts')
    const { areForeign } = decision
    const wanted = { folder, marker: before.pending, commands, areForeign }
    const proof = await prove(context, { ...wanted, limitMs: clearing.timeout })
    if (proof.kind === 'busy') {
      return refused(folder, before, 'running', commands, since(proof.sinceMs, context.nowMs))
    }
    if (proof.failed !== undefined) {
      const { failedCheckData, failedCheckLines } = await import('./clear-view.ts')
      const { run, failure, durationMs, output } = proof.failed
      const message = CHECK_TEXT.failed(pathOf(folder, before, run), run, failureWords(failure), durationMs)
      const data = { ...keptData(folder, before, commands), why: 'failed' as const, message }
      return {
        kind: 'kept',
        data: { ...data, failed: failedCheckData(proof.failed) },
        lines: failedCheckLines(message, output),
      }
    }
    done = proof.done
  }
  const keptBefore = unparsedNames(folder)
  const result = clearFolder(folder, {
    returnMeta: clearing.returnMeta,
    keepsUnchecked: clearing.unchecked || (clearing.orphaned && hasChecks(before)),
    still: (present) =>
      clearing.isOrphaned(present) && (skipsChecks || isProven(folder, present, before.pending, caller, done)),
  })
  if (result === undefined) {
    // A marker was made since the search. For `--orphaned` it belongs to another session, and needs no message.
    return clearing.orphaned ? undefined : refused(folder, before, 'replaced', commands)
  }
  const left = leftSteps(result.marker)
  const id = result.marker?.marker.id
  const settles = result.abandoned.map(({ marker }) => marker.id)
  record(context, folder, { ...result, settles }, left, done)
  const keptTexts = unparsedNames(folder).filter((name) => !keptBefore.includes(name))
  const owner = otherOwner(session, result.marker?.marker.hostSession)
  return {
    kind: 'cleared',
    settles,
    data: {
      ...{ task: folder.task, path: folder.path, marker_id: id ?? null, steps_left: left, files: result.files },
      checks: done.map(({ run, durationMs }) => ({ run, duration_ms: durationMs })),
      unchecked: result.isUnchecked,
    },
    notes: [
      ...(done.length === 0 ? [] : [CHECK_TEXT.passed(done)]),
      ...(result.isUnchecked ? [CHECK_TEXT.unchecked] : []),
      ...(left.length === 0 ? [] : [CLEAR_TEXT.leftSteps(left)]),
      ...(owner === undefined ? [] : [CLEAR_TEXT.ofOtherSession(owner)]),
      ...(keptTexts.length === 0 ? [] : [CLEAR_TEXT.keptTexts(keptTexts, false)]),
    ],
  }
}

function wouldClear(folder: TaskFolder, files: readonly string[], commands: readonly string[]): Result {
  const read = readMarker(folder)
  const left = leftSteps(read)
  const keepsText = read?.kind === 'marker' && read.marker.fields === undefined && read.text !== ''
  return {
    kind: 'cleared',
    settles: [],
    data: {
      ...{ task: folder.task, path: folder.path, marker_id: null, steps_left: left, files },
      checks: [],
      unchecked: false,
    },
    notes: [
      ...(commands.length === 0 ? [] : [CHECK_TEXT.wouldRun(commands)]),
      ...(left.length === 0 ? [] : [CLEAR_TEXT.leftSteps(left)]),
      ...(keepsText ? [CLEAR_TEXT.keptTexts([UNPARSED_FILE], true)] : []),
    ],
  }
}

function unparsedNames({ path: folder }: TaskFolder): string[] {
  return fs.readdirSync(folder).filter((name) => name.startsWith(UNPARSED_FILE))
}

function markersIn(folder: TaskFolder, files: readonly string[]): Markers {
  const markerOf = (name: string): readonly Marker[] => {
    const read = readMarker(folder, name)
    return read?.kind === 'marker' ? [read.marker] : []
  }
  const [pending] = files.includes(MARKER_FILE) ? markerOf(MARKER_FILE) : []
  return { pending, abandoned: files.filter(isAbandonedName).flatMap(markerOf) }
}

function pathOf(folder: TaskFolder, { pending, abandoned }: Markers, run: string | undefined): string {
  const isPending = pending?.checks.some((check) => check.run === run) ?? abandoned.length === 0
  return markerDisplayPath(folder, isPending || abandoned.length === 0 ? MARKER_FILE : ABANDONED_FILE)
}

function hasChecks({ pending }: Markers): boolean {
  return pending !== undefined && mayHaveChecks(pending)
}

function isProven(
  folder: TaskFolder,
  present: StoredMarker | undefined,
  before: Marker | undefined,
  caller: CheckCaller,
  done: readonly RunCheck[],
): boolean {
  const { abandoned } = markersIn(folder, clearableFiles(folder, false))
  const needed = decideFolder(present?.marker, abandoned, caller)
  if (needed.kind === 'refused') return false
  if (done.length === 0) return needed.kind === 'free'
  const isOther = present !== undefined && (before === undefined || markerKey(before) !== markerKey(present.marker))
  const passed = new Set(done.map(({ run }) => run))
  return !isOther && (needed.kind === 'free' || needed.commands.every((run) => passed.has(run)))
}

function refused(
  folder: TaskFolder,
  before: Markers,
  why: ErrorArguments['checks-refused']['refusal'],
  commands: readonly string[],
  sinceWhen?: string,
): Result {
  const { code, args } = new PostflightError('checks-refused', {
    ...{ path: pathOf(folder, before, commands[0]), refusal: why, commands: checkList(commands), unchecked: true },
    ...(sinceWhen !== undefined && { since: sinceWhen }),
  })
  const message = errorMessage(code, args)
  return { kind: 'kept', data: { ...keptData(folder, before, commands), why, message, failed: null }, lines: [message] }
}

function keptData(folder: TaskFolder, { pending }: Markers, commands: readonly string[]) {
  return { task: folder.task, path: folder.path, marker_id: pending?.id ?? null, checks: commands }
}

function record(
  context: CommandContext,
  folder: TaskFolder,
  { marker, isUnchecked, settles }: Cleared & { readonly settles: readonly (string | undefined)[] },
  left: readonly string[],
  done: readonly RunCheck[],
): void {
  const details = [
    ...(marker !== undefined ? [] : [settles.length > 0 ? CLEAR_DETAILS.abandonedCleared : CLEAR_DETAILS.noMarker]),
    ...(done.length === 0 ? [] : [CHECK_TEXT.passed(done)]),
    ...(left.length === 0 ? [] : [CLEAR_DETAILS.leftSteps(left)]),
  ]
  recordInJournal(context, folder.root, [
    {
      event: 'clear',
      outcome: marker === undefined ? undefined : isUnchecked ? 'unchecked' : 'cleared',
      markerId: marker?.marker.id,
      settles,
      task: folder.task,
      hostSession: shellIdentity(context.environment)?.session,
      checks: done.map(({ run }) => run),
      detail: details.length === 0 ? undefined : details.join('; '),
    },
  ])
}

function leftSteps(read: StoredMarker | UnreadableMarker | undefined): string[] {
  return read?.kind === 'marker' ? remainingSteps(read.marker).map(({ name }) => name) : []
}

function otherOwner(session: string | undefined, owner: string | undefined): string | undefined {
  return owner === session ? undefined : owner
}

/** The verdict of `status` then no longer counts them. */

interface Settling {
  readonly isDryRun: boolean
  readonly unchecked: boolean
  /** A full disk may have kept their end out of the journal. */
  readonly cleared: ReadonlySet<string | null | undefined>
}

type Settled =
  | { readonly kind: 'cleared'; readonly data: ClearDocument['cleared'][number]; readonly lines: readonly string[] }
  | { readonly kind: 'kept'; readonly data: ClearDocument['kept'][number]; readonly lines: readonly string[] }

/**
 * Settles the lost markers of a task, or of all tasks. Removing the file must not be the way around its checks: without
 * them a session never accepts its own marker as done, and only `--unchecked`, or a person at a terminal who names the
 * task, accepts another one.
 */
export function settleLost(
  context: CommandContext,
  root: string,
  task: string | undefined,
  { isDryRun, unchecked, cleared }: Settling,
): Settled[] {
  const session = shellIdentity(context.environment)?.session
  const skipsChecks =
    unchecked || (task !== undefined && context.terminal !== undefined && !isAgentShell(context.environment))
  const lost = lostOf(context, root, task).filter(({ record }) => record === undefined || !cleared.has(record.id))
  return lost.map((lost): Settled => {
    const { kind, relative, record, unproven } = lost
    const base = { task: lost.task, path: path.join(root, relative), marker_id: record?.id ?? null }
    const isOwn = session !== undefined && record?.sessions.has(session) === true
    if (unproven.length > 0 && (isOwn || !skipsChecks)) {
      const { code, args } = new PostflightError('checks-refused', {
        ...{ path: `${relative}/${MARKER_FILE}`, refusal: 'removed', commands: checkList(unproven), unchecked: !isOwn },
      })
      const message = errorMessage(code, args)
      return {
        kind: 'kept',
        data: { ...base, why: 'removed', message, checks: unproven, failed: null },
        lines: [message],
      }
    }
    if (!isDryRun) {
      forgetGivenUp({ root, relative })
      recordInJournal(context, root, [
        {
          event: 'clear',
          markerId: record?.id,
          settles: [],
          task: lost.task,
          hostSession: session,
          detail: CLEAR_DETAILS.fileGone,
        },
      ])
    }
    return {
      kind: 'cleared',
      data: { ...base, steps_left: [], files: [], checks: [], unchecked: false },
      lines: [CLEAR_TEXT.settled(relative, kind, isDryRun)],
    }
  })
}

function lostOf(context: CommandContext, root: string, task: string | undefined): readonly LostMarker[] {
  const name = task?.slice(task.lastIndexOf('/') + 1)
  // Its folder may have a name that no new folder could have.
  const reference = name === undefined ? undefined : readReference(name, true)
  const isOfTask = (one: LostMarker): boolean =>
    name === undefined || one.task === name || (reference !== undefined && isMeant(one, reference))
  try {
    return findLostMarkers(context, root, isOfTask)
  } catch (error) {
    if (error instanceof PostflightError) return []
    throw error
  }
}
