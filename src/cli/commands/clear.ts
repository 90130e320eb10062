import path from 'node:path'
import { kindAt } from '../../disk/file-facts.ts'
import { isAgentShell } from '../../hosts/all-hosts.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { MARKER_FILE, RUN_STATE_FILE } from '../../kernel/files.ts'
import { inLine } from '../../kernel/text.ts'
import type { FolderContent } from '../../marker/clear-files.ts'
import { forgetGivenUp } from '../../marker/given-up.ts'
import { checksSessionOf } from '../../marker/marker.ts'
import type { StoredMarker } from '../../marker/stored-marker.ts'
import { isExpired, isUnowned, madeAtMs, markerDisplayPath, UNOWNED_LIFETIME_MS } from '../../marker/stored-marker.ts'
import { type CommandContext, findCommandRoot, recordInJournal } from '../../project/command-context.ts'
import { parseTaskReference, runCommandLine, type TaskFolder } from '../../project/task-folder.ts'
import { findTaskFolder, isMeant, listTaskFolders, readReference, unsearchedError } from '../../project/task-folders.ts'
import { endWithFailures } from '../../views/print.ts'
import { findLostMarkers, type LostMarker } from '../../views/status/lost-markers.ts'
import { type ClearDocument, type ClearResult, clearOne, keptBecause } from '../clear-folder.ts'
import type { Declaration, OptionsOf, Run } from '../command.ts'
import { refuseOptionAsTask, requireOneTarget, timeoutOption } from '../command.ts'

export const declaration = {
  free: true,
  description: 'remove a marker whose postflight is done or no longer wanted; accept a workflow that has ended',
  examples: ['clear 259', 'clear 259 --timeout 1800', 'clear --orphaned --dry-run'],
  declare: (command) =>
    command
      .argument('[task]', 'task number or folder name; "." for specs/ itself')
      .option('--all', 'every task', false)
      .option(
        '--orphaned',
        'every marker whose session will not return: older than 24 h, or abandoned without a session',
        false,
      )
      .option('--return-meta', 'also remove .return-meta.json', false)
      .option('--run-checks', 'also run checks that another session set; they are printed first', false)
      .option('--unchecked', 'do not run the checks; a marker with checks is kept as abandoned', false)
      .addOption(timeoutOption('the time that each check may take'))
      .option('--dry-run', 'only print what would be removed', false),
} satisfies Declaration

export { clearDocument as document } from '../clear-folder.ts'

type ClearOptions = OptionsOf<typeof declaration>

export const run: Run<typeof declaration, ClearDocument> = async (context, [task], options, surroundings) => {
  requireOneTarget(task, { all: options.all, orphaned: options.orphaned })
  const root = findCommandRoot(context)
  // A malformed task is a usage error, with or without a root.
  if (root === undefined && task !== undefined) parseTaskReference(task)
  const { folders, problems } =
    root === undefined ? { folders: [], problems: [] } : foldersToClear(context, root, task, options)
  if (task !== undefined && folders.length === 0) refuseOptionAsTask(task, ['all', 'orphaned'])
  const results: ClearResult[] = []
  const failures: unknown[] = []
  for (const folder of folders) {
    // An emergency command must not stop at a broken marker.
    try {
      const result = await clearOne(context, folder, {
        ...options,
        isNamed: task !== undefined,
        isWanted: (content) => !options.orphaned || isOrphaned(context, content),
      })
      if (result !== undefined) results.push(result)
    } catch (error) {
      failures.push(error)
    }
  }
  if (root !== undefined && !options.orphaned) {
    results.push(...settleLost(context, root, task, options, results))
  }
  const runs = task === undefined ? [] : await settleRuns(context, folders, options.dryRun)
  const kept = results.flatMap((one) => one.kept ?? [])
  const keptLines = results.flatMap((one) => (one.kept === undefined ? [] : one.lines))
  const otherLines = results.flatMap((one) => (one.kept === undefined ? one.lines : []))
  const lines = [...otherLines, ...keptLines, ...runs.map(({ line }) => line)]
  endWithFailures([...failures, ...problems.map(unsearchedError)], lines, surroundings)
  const running = root !== undefined && options.all ? await runningRuns(context, root) : []
  return {
    exitCode: kept.length === 0 ? 0 : 1,
    data: {
      root: root ?? null,
      dry_run: options.dryRun,
      cleared: results.flatMap((one) => one.cleared ?? []),
      kept,
      settled: runs.flatMap(({ data }) => data ?? []),
      running,
    },
    lines: [
      ...(lines.length === 0 ? [nothing(root, task, folders)] : lines),
      ...running.map(({ path, stop }) => `${path}: the workflow goes on; to stop it: ${stop}`),
    ],
    essential: keptLines,
  }
}

async function settleRuns(context: CommandContext, folders: readonly TaskFolder[], isDryRun: boolean) {
  const withRun = folders.filter((folder) => kindAt(path.join(folder.path, RUN_STATE_FILE)) !== undefined)
  if (withRun.length === 0) return []
  const { settleEnded } = await import('../workflow/settle-ended.ts')
  return withRun.flatMap((folder) => settleEnded(context, folder, isDryRun) ?? [])
}

async function runningRuns({ nowMs, rootOption }: CommandContext, root: string): Promise<ClearDocument['running']> {
  const { listActiveRuns } = await import('../../run/store/active-runs.ts')
  return listActiveRuns(root, nowMs).map(({ folder }) => ({
    task: folder.task,
    path: folder.relative,
    stop: `${runCommandLine(folder, 'stop', rootOption)} --now`,
  }))
}

function nothing(root: string | undefined, task: string | undefined, folders: readonly TaskFolder[]): string {
  if (root === undefined) return 'nothing to clear: no specs/ folder here'
  const isMissing = task !== undefined && folders.length === 0
  return isMissing ? inLine(`nothing to clear: no folder for task ${task} in ${root}`) : 'nothing to clear'
}

function foldersToClear(context: CommandContext, root: string, task: string | undefined, options: ClearOptions) {
  if (task !== undefined) {
    const folder = findTaskFolder(root, task, context.session)
    return { folders: folder === undefined ? [] : [folder], problems: [] }
  }
  const { folders, problems } = listTaskFolders(root)
  // A folder that cannot be searched leads to one error at the end.
  const seen = folders.filter((folder) => problems.every((problem) => problem.path !== folder.path))
  return { folders: options.orphaned ? seen : folders, problems }
}

function isOrphaned(context: CommandContext, { pending, abandoned }: FolderContent): boolean {
  if (pending?.kind === 'unreadable') {
    const why = `cannot be read (${pending.detail}), so it was not cleared`
    context.note(`postflight: ${markerDisplayPath(pending.folder)} ${why}`)
    return false
  }
  return (
    (pending === undefined || isLeftBehind(context, pending)) &&
    abandoned.every((read) => read.kind !== 'marker' || isUnowned(read.marker) || isLeftBehind(context, read))
  )
}

/** Whether the marker is too old to be in use. This session's own never are: it can still run their checks. */
function isLeftBehind({ session, nowMs }: CommandContext, { marker, times }: StoredMarker): boolean {
  if (isUnowned(marker)) return isExpired(marker, times, nowMs)
  const old = nowMs - madeAtMs(marker, times, nowMs) > UNOWNED_LIFETIME_MS
  return old && ![marker.hostSession, checksSessionOf(marker)].includes(session)
}

/**
 * Removing a marker must not evade its checks: a session can accept its own lost markers only after they have passed.
 * Those of other sessions are also accepted with `--unchecked`, or if a person at a terminal names the task.
 */
function settleLost(
  context: CommandContext,
  root: string,
  task: string | undefined,
  { dryRun: isDryRun, unchecked }: ClearOptions,
  results: readonly ClearResult[],
): ClearResult[] {
  const { session } = context
  const skipsChecks =
    unchecked || (task !== undefined && context.terminal !== undefined && !isAgentShell(context.environment))
  const ids = results.flatMap(({ cleared, settles = [] }) => [cleared?.marker_id, ...settles])
  const going = results.flatMap(({ cleared }) =>
    !isDryRun || cleared === undefined || cleared.unchecked
      ? []
      : cleared.files.map((file) => path.join(cleared.path, file)),
  )
  // On a full disk the journal may lack what was just cleared.
  const lost = lostOf(context, root, task, going).filter(
    ({ record }) => record === undefined || !ids.includes(record.id),
  )
  return lost.map((lost): ClearResult => {
    const { kind, relative, record, unproven } = lost
    const base = { task: lost.task, path: path.join(root, relative), marker_id: record?.id ?? null }
    const isOwn = session !== undefined && record?.sessions.has(session) === true
    if (unproven.length > 0 && (isOwn || !skipsChecks)) {
      const refusal = { path: `${relative}/${MARKER_FILE}`, refusal: 'removed', unchecked: !isOwn } as const
      return keptBecause(base, unproven, refusal)
    }
    if (!isDryRun) {
      forgetGivenUp({ root, relative })
      const entry = { event: 'clear', markerId: record?.id, settles: [], hostSession: session } as const
      recordInJournal(context, { root, task: lost.task }, { ...entry, detail: 'its file was gone' })
    }
    return {
      cleared: { ...base, steps_left: [], files: [], checks: [], unchecked: false },
      lines: [
        `${isDryRun ? 'would settle' : 'settled'} ${inLine(relative)}: its marker ${LOST[kind]}, and its file is gone`,
      ],
    }
  })
}

const LOST = { removed: 'was removed by hand', abandoned: 'was given up', unchecked: 'ended without its checks' }

function lostOf(context: CommandContext, root: string, task: string | undefined, going: readonly string[]) {
  const name = task && path.basename(task)
  // Its folder may have a name that no new folder could have.
  const reference = name === undefined ? undefined : readReference(name, true)
  const isOfTask = (one: LostMarker): boolean =>
    name === undefined || one.task === name || (reference !== undefined && isMeant(one, reference))
  try {
    return findLostMarkers(context, root, isOfTask, going)
  } catch (error) {
    if (error instanceof PostflightError) return []
    throw error
  }
}
