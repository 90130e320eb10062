import { commandLine } from '../../core/command-line.ts'
import { PostflightError } from '../../core/errors.ts'
import { MARKER_FILE } from '../../core/files.ts'
import { DEFAULT_REASON, type Marker } from '../../core/marker.ts'
import { BYPASS_TEXT } from '../../core/messages/commands.ts'
import { markerDisplayPath } from '../../core/stored-marker.ts'
import { type TaskFolder, taskWord } from '../../core/task-folder.ts'
import { findTaskFolder, refuseUnsearched } from '../../io/find-task-folder.ts'
import { errorCode, isFull } from '../../io/fs/errors.ts'
import { changeMarker } from '../../io/markers/marker-store.ts'
import { foldersHolding, listTaskFolders } from '../../io/task-folders.ts'
import {
  type CommandContext,
  type CommandResult,
  recordInJournal,
  refuseOptionAsTask,
  requireOneTarget,
  requireRoot,
  requireTaskFolder,
} from '../context.ts'
import type { BypassDocument } from '../documents/bypass.ts'

/** `postflight bypass`: allows the next stop of any agent. */

export interface BypassOptions {
  readonly all: boolean
}

export function bypass(
  context: CommandContext,
  task: string | undefined,
  options: BypassOptions,
): CommandResult<BypassDocument> {
  requireOneTarget(task, { all: options.all })
  const root = requireRoot(context)
  const { folders, problems } =
    task === undefined ? everyMarker(root) : { folders: [taskFolderOf(root, task)], problems: [] }
  const done = forEveryOne(folders, (folder) => {
    const marker = bypassMarker(context, folder)
    if (marker === undefined) {
      if (task === undefined) return undefined
      throw new PostflightError('bypass-none', { folder: folder.relative })
    }
    recordInJournal(context, root, [{ event: 'bypass-request', markerId: marker.id, task: folder.task }])
    return { task: folder.task, path: markerDisplayPath(folder), marker_id: marker.id ?? null }
  }).filter((one) => one !== undefined)
  refuseUnsearched(problems)
  return {
    exitCode: 0,
    data: { bypassed: done },
    lines: done.length === 0 ? [BYPASS_TEXT.none] : done.map(({ path }) => BYPASS_TEXT.nextStop(path)),
  }
}

/**
 * Does `action` for every item, even if it fails for one of them: an emergency command must not stop at a broken
 * marker. Throws the first failure at the end.
 */
function forEveryOne<T, R>(items: readonly T[], action: (item: T) => R): R[] {
  const failures: unknown[] = []
  const results = items.flatMap((item) => {
    try {
      return [action(item)]
    } catch (error) {
      failures.push(error)
      return []
    }
  })
  if (failures.length > 0) throw failures[0]
  return results
}

function taskFolderOf(root: string, task: string): TaskFolder {
  if (findTaskFolder(root, task) === undefined) refuseOptionAsTask(task, ['all'])
  return requireTaskFolder(root, task)
}

/** Sets the marker's bypass, and returns the marker; undefined where there is none. */
function bypassMarker(context: CommandContext, folder: TaskFolder): Marker | undefined {
  try {
    return changeMarker(
      folder,
      ({ fields }) => ({ fields: { ...(fields === undefined && { reason: DEFAULT_REASON }), stop_hook_active: true } }),
      { replaceUnparsed: true },
    ).marker
  } catch (error) {
    if (error instanceof PostflightError && error.code === 'marker-none') return undefined
    if (!isFull(error)) throw error
    const clear = commandLine(['clear', taskWord(folder)], context.rootOption)
    throw new PostflightError('bypass-no-room', { path: folder.relative, detail: errorCode(error), clear }, error)
  }
}

function everyMarker(root: string) {
  const { folders, problems } = listTaskFolders(root)
  return { folders: foldersHolding(folders, MARKER_FILE, problems), problems }
}
