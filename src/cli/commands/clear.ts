import { RETURN_META_FILE } from '../../core/files.ts'
import { shellIdentity } from '../../core/hosts/index.ts'
import { remainingSteps } from '../../core/marker.ts'
import { CLEAR_TEXT, JOURNAL_DETAILS } from '../../core/messages/commands.ts'
import { isExpired, promisedAtMs, UNOWNED_LIFETIME_MS } from '../../core/stop/rules.ts'
import { markerDisplayPath, type StoredMarker, type UnreadableMarker } from '../../core/stored-marker.ts'
import { parseTaskReference, type SearchProblem, type TaskFolder } from '../../core/task-folder.ts'
import { clearableFiles } from '../../io/clearable-files.ts'
import { findTaskFolder, refuseUnsearched } from '../../io/find-task-folder.ts'
import { readMarker } from '../../io/marker-file.ts'
import { clearFolder } from '../../io/marker-store.ts'
import { listTaskFolders } from '../../io/task-folders.ts'
import {
  type CommandContext,
  type CommandResult,
  displayPath,
  findCommandRoot,
  forEveryOne,
  recordInJournal,
  refuseOptionAsTask,
  requireOneTarget,
} from '../context.ts'
import type { ClearDocument } from '../documents/clear.ts'

/** `postflight clear`: removes markers whose postflight is done or no longer wanted. It succeeds if there is none. */

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
  // A malformed task is a usage error, with or without a root.
  if (root === undefined && task !== undefined) parseTaskReference(task)
  const { folders, problems } =
    root === undefined ? { folders: [], problems: [] } : foldersToClear(context, root, task, options)
  if (task !== undefined && folders.length === 0) refuseOptionAsTask(task, ['all', 'orphaned'])
  const done = forEveryOne(folders, (folder) => {
    const files = clearableFiles(folder, options.returnMeta)
    // `--all --return-meta` removes a return file only from a folder that holds other files of ours.
    if (!files.some((name) => task !== undefined || name !== RETURN_META_FILE)) return undefined
    const result = options.dryRun
      ? { files, marker: undefined }
      : clearFolder(folder, options.returnMeta, (present) => !options.orphaned || isOrphaned(context, present))
    // A marker was made since the look.
    if (result === undefined) return undefined
    const id = result.marker?.marker.id
    const left = leftSteps(options.dryRun ? readMarker(folder) : result.marker)
    if (!options.dryRun && root !== undefined) {
      const isCleared = result.marker !== undefined
      const detail = isCleared ? leftDetail(left) : JOURNAL_DETAILS.noMarker
      const outcome = isCleared ? ('cleared' as const) : undefined
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
    const owner = otherOwner(context, result.marker?.marker.hostSession)
    return {
      ...{ task: folder.task, path: folder.path, marker_id: id ?? null, steps_left: left, files: result.files },
      notes: [
        ...(left.length === 0 ? [] : [CLEAR_TEXT.leftSteps(left)]),
        ...(owner === undefined ? [] : [CLEAR_TEXT.ofOtherSession(owner)]),
      ],
    }
  }).filter((one) => one !== undefined)
  refuseUnsearched(problems)
  return {
    exitCode: 0,
    data: { root: root ?? null, dry_run: options.dryRun, cleared: done.map(({ notes: _notes, ...one }) => one) },
    lines:
      done.length === 0
        ? [nothing(root, task, folders)]
        : done.map(({ path, files, notes }) =>
            CLEAR_TEXT.cleared(displayPath(context, path), files, notes, options.dryRun),
          ),
  }
}

/** The line for a `clear` that found nothing. It names an unknown task, which may be a typo. */
function nothing(root: string | undefined, task: string | undefined, folders: readonly TaskFolder[]): string {
  if (root === undefined) return CLEAR_TEXT.noSpecs
  return task !== undefined && folders.length === 0 ? CLEAR_TEXT.noFolder(task, root) : CLEAR_TEXT.nothing
}

/** The names of the steps of a marker that were not ticked. */
function leftSteps(read: StoredMarker | UnreadableMarker | undefined): string[] {
  return read?.kind === 'marker' ? remainingSteps(read.marker).map(({ name }) => name) : []
}

function leftDetail(left: readonly string[]): string | undefined {
  return left.length === 0 ? undefined : JOURNAL_DETAILS.leftSteps(left)
}

/** The owner of a marker if that is another session. */
function otherOwner(context: CommandContext, owner: string | undefined): string | undefined {
  return owner === shellIdentity(context.environment)?.session ? undefined : owner
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
  const { folders, problems } = listTaskFolders(root)
  // A folder that cannot be searched leads to one error at the end.
  const seen = folders.filter((folder) => problems.every((problem) => problem.path !== folder.path))
  return {
    folders: options.orphaned ? seen.filter((folder) => looksOrphaned(context, folder)) : folders,
    problems,
  }
}

/** True where the folder's files are orphaned, as far as a look without the lock can tell. */
function looksOrphaned(context: CommandContext, folder: TaskFolder): boolean {
  const read = readMarker(folder)
  if (read?.kind !== 'unreadable') return isOrphaned(context, read)
  context.note(CLEAR_TEXT.notCleared(markerDisplayPath(folder), read.detail))
  return false
}

/**
 * True for files that no session will come back for: leftovers without a marker (abandoned markers among them), expired
 * unowned markers, markers of another session that are older than 24 h, and those by which earlier versions found workflows.
 */
function isOrphaned({ environment, nowMs }: CommandContext, present: StoredMarker | undefined): boolean {
  if (present === undefined) return true
  const { marker, times } = present
  if (marker.workflow) return true
  if (isExpired(marker, times, nowMs)) return true
  const old = nowMs - promisedAtMs(marker, times, nowMs) > UNOWNED_LIFETIME_MS
  return marker.hostSession !== undefined && marker.hostSession !== shellIdentity(environment)?.session && old
}
