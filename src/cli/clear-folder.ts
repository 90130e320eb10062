import fs from 'node:fs'
import { commandLine } from '../kernel/command-line.ts'
import { type ErrorArguments, messageOf, PostflightError } from '../kernel/errors.ts'
import { ABANDONED_FILE, MARKER_FILE, RETURN_META_FILE, UNPARSED_FILE } from '../kernel/files.ts'
import { oneLine, quotedNames, stripControl } from '../kernel/text.ts'
import { checkFailed, checkList, checksPassed, outputLines, since } from '../marker/check-messages.ts'
import { clearFolder, contentOf, type FolderContent, recordCleared, uncheckedNames } from '../marker/clear-files.ts'
import { type Caller, decideFolder, type Marker, mayHaveChecks, NO_CHECKS, remainingSteps } from '../marker/marker.ts'
import { mustBeKept, requireReadable } from '../marker/marker-store.ts'
import type { prove } from '../marker/prove.ts'
import type { failedOf, RunCheck } from '../marker/run-checks.ts'
import { markerDisplayPath, markerKey } from '../marker/stored-marker.ts'
import { type CommandContext, displayPath } from '../project/command-context.ts'
import { type TaskFolder, taskWord } from '../project/task-folder.ts'
import { isSessionFolder } from '../project/task-folders.ts'
import * as field from '../views/documents.ts'

/** Clears one task folder: its checks are run first. Also how `step` and `done` show a check that failed. */

export const clearDocument = () =>
  field.object({
    root: field.optionalText('The folder that holds specs/; null if there is none.'),
    dry_run: field.flag('True if nothing was removed: these files would have been.'),
    cleared: field.objects({
      task: field.task,
      path: field.text("The task folder's absolute path."),
      marker_id: field.optionalText('The id of the marker that was removed.'),
      steps_left: field.texts('Name of a step of its checklist that was not ticked.'),
      files: field.texts('Name of a file in it that was removed.'),
      checks: field.objects({
        run: field.text('A check that passed before.'),
        duration_ms: field.count('How long it ran.'),
      }),
      unchecked: field.flag('True if its checks were not run, so that its marker is kept as abandoned.'),
    }),
    kept: field.objects({
      task: field.task,
      path: field.text("The task folder's absolute path."),
      marker_id: field.optionalText('The id of the marker that stays.'),
      why: field.oneOf(['failed', 'running', 'other-session', 'unowned', 'replaced', 'unreadable', 'removed', 'done']),
      message: field.text('The reason in words.'),
      checks: field.texts('A check that must pass first.'),
      failed: field.optional(field.failedCheck, 'The check that failed.'),
    }),
    settled: field.objects({
      task: field.task,
      path: field.text('The task folder of an ended run that status no longer lists, relative to the root.'),
      outcome: field.text('Its outcome.'),
      resume: field.optionalText('The command that continues it; null if it cannot be resumed.'),
    }),
    running: field.objects({
      task: field.task,
      path: field.text('With --all: the task folder of a workflow that continues, relative to the root.'),
      stop: field.text('The command that stops it.'),
    }),
  })

export type ClearDocument = field.DocumentOf<typeof clearDocument>

type Flag = 'returnMeta' | 'dryRun' | 'runChecks' | 'unchecked' | 'orphaned' | 'isNamed'

/** `isNamed`: then its `.return-meta.json` is removed even without other files of ours. */
type Clearing = Readonly<Record<Flag, boolean> & { timeout: number; isWanted: (content: FolderContent) => boolean }>

/** Neither: `--unchecked` keeps abandoned markers that have checks. */
export interface ClearResult {
  readonly cleared?: ClearDocument['cleared'][number]
  readonly settles?: readonly (string | undefined)[]
  readonly kept?: ClearDocument['kept'][number]
  readonly lines: readonly string[]
}

export async function clearOne(
  context: CommandContext,
  folder: TaskFolder,
  clearing: Clearing,
): Promise<ClearResult | undefined> {
  const found = contentOf(folder, clearing.returnMeta)
  if (!clearing.isWanted(found)) return undefined
  const before = markersIn(found)
  const caller = { session: context.session, runChecks: clearing.runChecks }
  const { kept, keepsUnchecked, files, skipsChecks, decision } = planClearing(found, caller, clearing)
  if (files.length === 0) return kept === undefined ? undefined : onlyUnchecked(context, folder, kept)
  const { commands } = decision
  const refused = (refusal: Refusal['refusal'], since?: string): ClearResult => {
    const path = pathOf(folder, before, commands[0])
    // It never skips a check of an abandoned marker.
    const unchecked = before.pending !== undefined
    return keptBecause(aboutMarker(folder, before.pending), commands, { path, refusal, unchecked, since })
  }
  // Only the receipts of `postflight done` keep the next stop from making the marker again.
  const isNeeded = decision.refusal !== undefined || commands.length > 0
  const refusal = isNeeded && isSessionFolder(folder) ? 'done' : decision.refusal
  if (refusal !== undefined) return refused(refusal)
  if (clearing.dryRun) return wouldClear(context, folder, found, { files, commands, keepsUnchecked })
  const proof = await proofOf(context, folder, before.pending, decision, clearing.timeout)
  if (proof.kind === 'busy') return refused('running', since(proof.sinceMs, context.nowMs))
  if (proof.failed !== undefined) return keptByFailure(folder, before, commands, proof.failed)
  const { done } = proof
  const textsBefore = unparsedNames(folder)
  const result = removeFiles(context, folder, before, done, {
    returnMeta: clearing.returnMeta,
    keepsUnchecked,
    still: (seen) => clearing.isWanted(seen) && (skipsChecks || isProven(seen, before.pending, caller, done)),
  })
  // A marker was made since the search. For `--orphaned` it belongs to another session, and needs no message.
  if (result === undefined) return clearing.orphaned ? undefined : refused('replaced')
  const [abandoned] = result.abandoned
  if (abandoned !== undefined && isSessionFolder(folder)) {
    const { endAbandoned } = await import('../done/done-state.ts')
    endAbandoned(folder, abandoned)
  }
  // Its checks passed, although it was removed meanwhile.
  const proven = done.length > 0 && abandoned === undefined ? before.pending : undefined
  const marker = result.marker ?? proven
  const withoutMarker = abandoned === undefined ? 'no marker was pending' : 'the abandoned marker was cleared'
  const passed = done.length === 0 ? [] : [checksPassed(done)]
  const unticked = untickedNote(marker).map((note) => `steps ${note}`)
  const details = [...(marker ? [] : [withoutMarker]), ...passed, ...unticked]
  recordCleared(context, folder, { ...result, marker }, done, details.join('; ') || undefined)
  const keptTexts = unparsedNames(folder).filter((name) => !textsBefore.includes(name))
  const owner = marker?.hostSession
  const cleared = clearedAs('cleared', context, folder, marker, {
    files: result.files,
    checks: done.map(({ run, durationMs }) => ({ run, duration_ms: durationMs })),
    unchecked: result.isUnchecked,
    first: passed,
    last: [
      ...(owner === undefined || owner === context.session ? [] : [`it belonged to session ${oneLine(owner, 80)}`]),
      ...(keptTexts.length === 0 ? [] : [`its text does not parse and is kept as ${keptTexts.join(', ')}`]),
    ],
  })
  return { ...cleared, settles: result.abandoned.map(({ id }) => id) }
}

/** No files: nothing is to be cleared. */
function planClearing(found: FolderContent, caller: Caller, { unchecked, orphaned, isNamed }: Clearing) {
  const { pending, abandoned } = markersIn(found)
  const keepsUnchecked = unchecked || (orphaned && pending !== undefined && mayHaveChecks(pending))
  const keptNames = keepsUnchecked ? uncheckedNames(found) : []
  const files = found.files.filter((name) => !keptNames.includes(name))
  // `--all --return-meta` removes a return file only from a folder that holds other files of ours.
  const isEmpty = files.every((name) => name === RETURN_META_FILE && !isNamed)
  const skipsChecks = unchecked || orphaned
  const decision = skipsChecks ? NO_CHECKS : decideFolder(pending, abandoned, caller)
  return { kept: keptNames[0], keepsUnchecked, files: isEmpty ? [] : files, skipsChecks, decision }
}

function onlyUnchecked({ rootOption }: CommandContext, folder: TaskFolder, kept: string): ClearResult {
  const clear = commandLine(['clear', taskWord(folder)], rootOption)
  const path = markerDisplayPath(folder, kept)
  const why = `--unchecked does not remove an abandoned marker that has checks (${path})`
  return { lines: [`nothing to clear: ${why}; when they pass, or in a plain terminal: ${clear}`] }
}

function wouldClear(
  context: CommandContext,
  folder: TaskFolder,
  found: FolderContent,
  { files, commands, keepsUnchecked }: { files: string[]; commands: readonly string[]; keepsUnchecked: boolean },
): ClearResult {
  const { pending } = found
  for (const read of [pending, ...found.abandoned]) requireReadable(read)
  const marker = markersIn(found).pending
  const keepsText = pending?.kind === 'marker' && marker?.fields === undefined && pending.text !== ''
  return clearedAs('would clear', context, folder, marker, {
    files,
    checks: [],
    unchecked: keepsUnchecked && mustBeKept(pending),
    first: commands.length === 0 ? [] : [`after ${checkList(commands)}`],
    last: keepsText ? [`its text does not parse and would be kept as ${UNPARSED_FILE}`] : [],
  })
}

async function proofOf(...[context, folder, pending, decision, timeout]: Parameters<typeof prove>) {
  if (decision.commands.length === 0) return { kind: 'done' as const, done: [], failed: undefined }
  // Loaded only if there are checks.
  const { prove } = await import('../marker/prove.ts')
  return prove(context, folder, pending, decision, timeout)
}

function keptByFailure(
  folder: TaskFolder,
  before: Markers,
  checks: readonly string[],
  failure: FailedCheck,
): ClearResult {
  const path = pathOf(folder, before, failure.run)
  const message = `${path}: the ${checkFailed(failure)}, so the marker stays. The end of its output:`
  const failed = failedCheckData(failure)
  const kept = { ...aboutMarker(folder, before.pending), why: 'failed', message, checks, failed } as const
  return { kept, lines: [message, ...outputLines(failure.output)] }
}

function removeFiles(
  context: CommandContext,
  folder: TaskFolder,
  before: Markers,
  done: readonly RunCheck[],
  removal: Parameters<typeof clearFolder>[1],
) {
  try {
    return clearFolder(folder, removal)
  } catch (error) {
    // A marker that is gone although its folder could not be synced was not removed by hand.
    const { pending, abandoned } = contentOf(folder)
    const isGone = pending === undefined && abandoned.length === 0
    if (isGone) recordCleared(context, folder, { ...before, marker: before.pending, isUnchecked: false }, done)
    throw error
  }
}

type Cleared = Pick<ClearDocument['cleared'][number], 'files' | 'checks' | 'unchecked'>

/** `first`, `last`: the notes before and after those about the marker. */
function clearedAs(
  verb: 'cleared' | 'would clear',
  context: CommandContext,
  folder: TaskFolder,
  marker: Marker | undefined,
  { first, last, ...cleared }: Cleared & Readonly<Record<'first' | 'last', readonly string[]>>,
): ClearResult {
  const unchecked = cleared.unchecked ? ['unchecked: its marker is kept as abandoned'] : []
  const notes = [...first, ...unchecked, ...untickedNote(marker), ...last].map((note) => ` (${note})`).join('')
  const files = cleared.files.length === 0 ? '' : `: ${cleared.files.join(', ')}`
  return {
    cleared: { ...aboutMarker(folder, marker), steps_left: leftSteps(marker), ...cleared },
    lines: [`${verb} ${displayPath(context, folder.path)}${files}${notes}`],
  }
}

function untickedNote(marker: Marker | undefined): string[] {
  const left = leftSteps(marker)
  return left.length === 0 ? [] : [`not ticked: ${quotedNames(left)}`]
}

function unparsedNames({ path: folder }: TaskFolder): string[] {
  return fs.readdirSync(folder).filter((name) => name.startsWith(UNPARSED_FILE))
}

type Markers = ReturnType<typeof markersIn>

function markersIn({ pending, abandoned }: FolderContent) {
  return {
    pending: pending?.kind === 'marker' ? pending.marker : undefined,
    abandoned: abandoned.flatMap((read) => (read.kind === 'marker' ? read.marker : [])),
  }
}

function pathOf(folder: TaskFolder, { pending, abandoned }: Markers, run?: string): string {
  const isPending = pending?.checks.some((check) => check.run === run) ?? abandoned.length === 0
  return markerDisplayPath(folder, isPending || abandoned.length === 0 ? MARKER_FILE : ABANDONED_FILE)
}

function isProven(content: FolderContent, before: Marker | undefined, caller: Caller, done: readonly RunCheck[]) {
  const { pending, abandoned } = markersIn(content)
  const needed = decideFolder(pending, abandoned, caller)
  if (needed.refusal !== undefined) return false
  const isOther =
    pending !== undefined &&
    (before === undefined || markerKey(before) !== markerKey(pending) || before.hostSession !== pending.hostSession)
  const passed = new Set(done.map(({ run }) => run))
  return (done.length === 0 || !isOther) && needed.commands.every((run) => passed.has(run))
}

type Refusal = Omit<ErrorArguments['checks-refused'], 'commands'>

export function keptBecause(marker: ReturnType<typeof aboutMarker>, checks: readonly string[], refusal: Refusal) {
  const message = messageOf(new PostflightError('checks-refused', { ...refusal, commands: checkList(checks) }))
  return { kept: { ...marker, why: refusal.refusal, message, checks, failed: null }, lines: [message] }
}

function aboutMarker({ task, path }: TaskFolder, marker: Marker | undefined) {
  return { task, path, marker_id: marker?.id ?? null }
}

function leftSteps(marker: Marker | undefined): string[] {
  return marker === undefined ? [] : remainingSteps(marker).map(({ name }) => name)
}

type FailedCheck = NonNullable<ReturnType<typeof failedOf>>

export function failedCheckData(failed: FailedCheck) {
  const { failure, run, durationMs, output } = failed
  return {
    run,
    exit_code: failure.kind === 'exited' ? failure.exitCode : null,
    signal: failure.kind === 'killed' ? failure.signal : failure.kind === 'interrupted' ? failure.by : null,
    timed_out: failure.kind === 'timed-out',
    duration_ms: durationMs,
    output: stripControl(output),
  }
}
