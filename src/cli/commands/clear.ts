import { isExpired, promisedAtMs, UNOWNED_LIFETIME_MS } from '../../core/decision.ts'
import { RETURN_META_FILE } from '../../core/files.ts'
import { shellIdentity } from '../../core/hosts/index.ts'
import { parseTaskReference } from '../../core/task-folder.ts'
import { clearableFiles, clearFolder, readMarker } from '../../io/marker-store.ts'
import { listTaskFolders, type TaskFolder } from '../../io/search.ts'
import { findTaskFolder } from '../../io/tasks.ts'
import {
  type CommandContext,
  type CommandResult,
  displayPath,
  findCommandRoot,
  record,
  requireOneTarget,
} from '../context.ts'

/** `postflight clear`: the postflight is done, or no longer wanted. Nothing there is fine. */

export interface ClearOptions {
  readonly all: boolean
  readonly orphaned: boolean
  readonly returnMeta: boolean
  readonly dryRun: boolean
}

export function clear(context: CommandContext, task: string | undefined, options: ClearOptions): CommandResult {
  requireOneTarget(task, { all: options.all, orphaned: options.orphaned })
  // Before the root is looked for: a slip in the task's name is wrong use wherever one stands.
  const reference = task === undefined ? undefined : parseTaskReference(task)
  const root = findCommandRoot(context)
  const cleared = root === undefined ? [] : foldersToClear(context, root, reference, options)
  const done = cleared.map(({ folder, files }) => {
    const result = options.dryRun ? { files, marker: undefined } : clearFolder(folder, options.returnMeta)
    const id = result.marker?.marker.id
    if (!options.dryRun && root !== undefined) {
      const detail = result.marker === undefined ? 'no marker was pending' : undefined
      const outcome = result.marker === undefined ? undefined : 'cleared'
      record(context, root, [
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
    return { task: folder.task, path: folder.path, marker_id: id ?? null, files: result.files }
  })
  const verb = options.dryRun ? 'would clear' : 'cleared'
  return {
    exitCode: 0,
    data: { root: root ?? null, dry_run: options.dryRun, cleared: done },
    lines:
      done.length === 0
        ? ['nothing to clear']
        : done.map((one) => `${verb} ${displayPath(context, one.path)}: ${one.files.join(', ')}`),
  }
}

interface Clearable {
  readonly folder: TaskFolder
  readonly files: readonly string[]
}

function foldersToClear(
  context: CommandContext,
  root: string,
  reference: ReturnType<typeof parseTaskReference> | undefined,
  options: ClearOptions,
): Clearable[] {
  let folders: TaskFolder[]
  if (reference !== undefined) {
    const folder = findTaskFolder(root, reference)
    folders = folder === undefined ? [] : [folder]
  } else {
    folders = listTaskFolders(root).folders
  }
  const session = shellIdentity(context.environment)?.session
  // `--all --return-meta` takes the return file of a folder that holds more of ours, not every one in the project.
  return folders
    .filter((folder) => !options.orphaned || isOrphaned(folder, session, context.nowMs))
    .map((folder) => ({ folder, files: clearableFiles(folder, options.returnMeta) }))
    .filter(({ files }) => files.some((name) => reference !== undefined || name !== RETURN_META_FILE))
}

/**
 * What nobody will come back for: leftovers without a marker (abandoned ones among them), expired unowned markers, and
 * markers of another session that are older than 24 h.
 */
function isOrphaned(folder: TaskFolder, session: string | undefined, nowMs: number): boolean {
  const read = readMarker(folder)
  if (read === undefined) return true
  if (read.kind === 'unreadable') return false
  const { marker, fileTimeMs } = read
  if (isExpired(marker, fileTimeMs, nowMs)) return true
  const old = nowMs - promisedAtMs(marker, fileTimeMs, nowMs) > UNOWNED_LIFETIME_MS
  return marker.hostSession !== undefined && marker.hostSession !== session && old
}
