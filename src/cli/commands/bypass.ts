import { MARKER_FILE } from '../../core/files.ts'
import { DEFAULT_REASON } from '../../core/marker.ts'
import { changeMarker, markerDisplayPath } from '../../io/marker-store.ts'
import { foldersHolding, listTaskFolders } from '../../io/search.ts'
import { refuseUnsearched } from '../../io/tasks.ts'
import {
  type CommandContext,
  type CommandResult,
  forEveryOne,
  record,
  requireOneTarget,
  requireRoot,
  requireTaskFolder,
} from '../context.ts'

/** `postflight bypass`: let the next stop go through, whoever stops. */

export interface BypassOptions {
  readonly all: boolean
}

export function bypass(context: CommandContext, task: string | undefined, options: BypassOptions): CommandResult {
  requireOneTarget(task, { all: options.all })
  const root = requireRoot(context)
  const { folders, problems } =
    task === undefined ? everyMarker(root) : { folders: [requireTaskFolder(root, task)], problems: [] }
  const done = forEveryOne(folders, (folder) => {
    const marker = changeMarker(
      folder,
      (present) =>
        present.fields === undefined ? { reason: DEFAULT_REASON, stop_hook_active: true } : { stop_hook_active: true },
      { replaceUnparsed: true },
    )
    record(context, root, [{ event: 'bypass-request', markerId: marker?.id, task: folder.task }])
    return { task: folder.task, path: markerDisplayPath(folder), marker_id: marker?.id ?? null }
  })
  refuseUnsearched(problems)
  return {
    exitCode: 0,
    data: { bypassed: done },
    lines:
      done.length === 0
        ? ['no markers to bypass']
        : done.map((one) => `${one.path}: the next stop goes through and removes it`),
  }
}

function everyMarker(root: string) {
  const { folders, problems } = listTaskFolders(root)
  return { folders: foldersHolding(folders, MARKER_FILE, problems), problems }
}
