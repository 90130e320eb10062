import { commandLine } from '../../core/command-line.ts'
import { PostflightError } from '../../core/errors.ts'
import { RETURN_META_FILE } from '../../core/files.ts'
import { shellIdentity } from '../../core/hosts/index.ts'
import { isExpired, promisedAtMs, UNOWNED_LIFETIME_MS } from '../../core/stop/rules.ts'
import { markerDisplayPath } from '../../core/stored-marker.ts'
import { parseTaskReference, type SearchProblem, type TaskFolder, taskWord } from '../../core/task-folder.ts'
import { inLine, oneLine } from '../../core/text.ts'
import { findTaskFolder, refuseUnsearched } from '../../io/find-task-folder.ts'
import { readMarker } from '../../io/marker-file.ts'
import { clearableFiles, clearFolder } from '../../io/marker-store.ts'
import { listTaskFolders } from '../../io/task-folders.ts'
import {
  type CommandContext,
  type CommandResult,
  displayPath,
  findCommandRoot,
  forEveryOne,
  recordInJournal,
  requireOneTarget,
} from '../context.ts'
import type { ClearDocument } from '../documents/clear.ts'

import { loadMarkerRun } from '../workflow/load-marker-run.ts'

/** `postflight clear`: the postflight is done, or no longer wanted. Nothing there is fine. */

export interface ClearOptions {
  readonly all: boolean
  readonly orphaned: boolean
  readonly returnMeta: boolean
  readonly dryRun: boolean
}

export function clear(
  context: CommandContext,
  task: string | undefined,
  options: ClearOptions,
): CommandResult<ClearDocument> {
  requireOneTarget(task, { all: options.all, orphaned: options.orphaned })
  const root = findCommandRoot(context)
  // A slip in the task's name is wrong use wherever one stands.
  if (root === undefined && task !== undefined) parseTaskReference(task)
  const { folders, problems } =
    root === undefined ? { folders: [], problems: [] } : foldersToClear(context, root, task, options)
  const done = forEveryOne(folders, (folder) => {
    const files = clearableFiles(folder, options.returnMeta)
    // `--all --return-meta` takes the return file of a folder that holds more of ours, not every one in the project.
    if (!files.some((name) => task !== undefined || name !== RETURN_META_FILE)) return undefined
    const isRunning = isRunningWorkflow(folder)
    // Without its marker no hook would find it any more, and nobody would be told.
    if (isRunning && task !== undefined) {
      throw new PostflightError('marker-of-workflow', { path: markerDisplayPath(folder), task: taskWord(folder) })
    }
    if (isRunning && !options.dryRun) loadMarkerRun().stopRunOfMarker(folder, 'cleared', context.nowMs)
    const result = options.dryRun ? { files, marker: undefined } : clearFolder(folder, options.returnMeta)
    const id = result.marker?.marker.id
    if (!options.dryRun && root !== undefined) {
      const isCleared = result.marker !== undefined || isRunning
      const detail = isRunning ? 'workflow stopped' : isCleared ? undefined : 'no marker was pending'
      const outcome = isCleared ? 'cleared' : undefined
      recordInJournal(context, root, [
        {
          event: 'clear',
          outcome,
          markerId: id,
          task: folder.task,
          hostSession: shellIdentity(context.environment)?.session,
          detail,
        },
      ])
    }
    const owner = foreignOwner(context, result.marker?.marker.hostSession)
    const resume = commandLine(['workflow', 'resume', taskWord(folder)], context.rootOption)
    const workflow = isRunning ? ` (its workflow is stopped by that: ${resume} goes on with it)` : ''
    return {
      ...{
        task: folder.task,
        path: folder.path,
        marker_id: id ?? null,
        workflow: isRunning ? ('stopped' as const) : null,
      },
      files: isRunning ? [...new Set([...files, ...result.files])] : result.files,
      note: `${owner}${workflow}`,
    }
  }).filter((one) => one !== undefined)
  refuseUnsearched(problems)
  const verb = options.dryRun ? 'would clear' : 'cleared'
  return {
    exitCode: 0,
    data: { root: root ?? null, dry_run: options.dryRun, cleared: done.map(({ note: _note, ...one }) => one) },
    lines:
      done.length === 0
        ? [nothing(root, task, folders)]
        : done.map(({ path, files, note }) => `${verb} ${displayPath(context, path)}: ${files.join(', ')}${note}`),
  }
}

/** Nothing there is fine, but a slip in the task's name should be seen. */
function nothing(root: string | undefined, task: string | undefined, folders: readonly TaskFolder[]): string {
  if (root === undefined) return 'nothing to clear: no specs/ folder here'
  return task !== undefined && folders.length === 0
    ? inLine(`nothing to clear: no folder for task ${task} in ${root}`)
    : 'nothing to clear'
}

/** Said when the promise was another session's. */
function foreignOwner(context: CommandContext, owner: string | undefined): string {
  const session = shellIdentity(context.environment)?.session
  return owner === undefined || owner === session ? '' : ` (it was session ${oneLine(owner, 80)}'s)`
}

function foldersToClear(
  context: CommandContext,
  root: string,
  task: string | undefined,
  options: ClearOptions,
): { readonly folders: readonly TaskFolder[]; readonly problems: readonly SearchProblem[] } {
  if (task !== undefined) {
    const folder = findTaskFolder(root, task)
    return { folders: folder === undefined ? [] : [folder], problems: [] }
  }
  const session = shellIdentity(context.environment)?.session
  const { folders, problems } = listTaskFolders(root)
  // What cannot be looked into is refused as a whole in the end: one line is enough.
  const seen = folders.filter((folder) => problems.every((problem) => problem.path !== folder.path))
  return {
    folders: options.orphaned ? seen.filter((folder) => isOrphaned(context, folder, session)) : folders,
    problems,
  }
}

/** Runs that nobody can take up again: their markers hold nobody and go with nobody. */
const ENDED: readonly string[] = ['over', 'missing']

/** A workflow's marker whose run goes on. */
function isRunningWorkflow(folder: TaskFolder): boolean {
  const read = readMarker(folder)
  return read?.kind === 'marker' && read.marker.workflow && loadMarkerRun().runOfMarker(folder).standing === 'running'
}

/**
 * What nobody will come back for: leftovers without a marker (abandoned ones among them), expired unowned markers,
 * markers of another session that are older than 24 h, and those of workflows that are over or gone.
 */
function isOrphaned(context: CommandContext, folder: TaskFolder, session: string | undefined): boolean {
  const { nowMs } = context
  const read = readMarker(folder)
  if (read === undefined) return true
  if (read.kind === 'unreadable') {
    context.note(`postflight: ${markerDisplayPath(folder)} cannot be read (${read.detail}): it was left alone`)
    return false
  }
  const { marker, times } = read
  if (marker.workflow) return ENDED.includes(loadMarkerRun().runOfMarker(folder).standing)
  if (isExpired(marker, times, nowMs)) return true
  const old = nowMs - promisedAtMs(marker, times, nowMs) > UNOWNED_LIFETIME_MS
  return marker.hostSession !== undefined && marker.hostSession !== session && old
}
