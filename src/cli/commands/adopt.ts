import path from 'node:path'
import { PostflightError } from '../../core/errors.ts'
import { MARKER_FILE } from '../../core/files.ts'
import { isMarkerId, type Marker } from '../../core/marker.ts'
import { markerDisplayPath } from '../../core/stored-marker.ts'
import { taskWord } from '../../core/task-folder.ts'
import { toIsoSeconds } from '../../core/time.ts'
import { readMarker } from '../../io/marker-file.ts'
import { newMarkerId } from '../../io/marker-id.ts'
import { changeMarker, reviveAbandoned } from '../../io/marker-store.ts'
import {
  type CommandContext,
  type CommandResult,
  displayPath,
  recordInJournal,
  requireRoot,
  requireTaskFolder,
} from '../context.ts'
import { callerOf } from '../identity.ts'
import { checkIds } from '../option-values.ts'

/** `postflight adopt`: the current host session takes a promise over; an abandoned one is made anew. */

export interface AdoptOptions {
  readonly hostSession?: string
  readonly agent?: string
}

export function adopt(context: CommandContext, task: string, options: AdoptOptions): CommandResult {
  checkIds([
    ['--host-session', options.hostSession],
    ['--agent', options.agent],
  ])
  const root = requireRoot(context)
  const folder = requireTaskFolder(root, task)
  const { session, agent } = callerOf(context, options)
  if (session === undefined) throw new PostflightError('session-unknown')
  let id = ''
  const owner = (marker: Marker, fresh: boolean): Record<string, unknown> => {
    // The id is what the hook learns the owner by; an abandoned promise is a new one.
    id = !fresh && isMarkerId(marker.id) ? marker.id : newMarkerId()
    return { id, cc_session_id: session, agent_id: agent, agent_type: undefined, stop_hook_active: false }
  }
  const revived = reviveAbandoned(folder, (marker) => ({
    created: toIsoSeconds(context.nowMs),
    ...owner(marker, true),
  }))
  if (!revived) {
    const present = readMarker(folder)
    if (present === undefined) throw new PostflightError('marker-none', { folder: folder.relative })
    // The marker would be this session's, and the run still another's: nobody would drive it.
    if (present.kind === 'marker' && present.marker.workflow) {
      throw new PostflightError('marker-of-workflow', { path: markerDisplayPath(folder), task: taskWord(folder) })
    }
    changeMarker(folder, (marker) => owner(marker, false), { replaceUnparsed: true })
  }
  const target = path.join(folder.path, MARKER_FILE)
  recordInJournal(context, root, [
    {
      event: 'adopt',
      markerId: id,
      task: folder.task,
      hostSession: session,
      agent,
      detail: revived ? 'was abandoned' : undefined,
    },
  ])
  return {
    exitCode: 0,
    data: { id, path: target, task: folder.task, revived, owner: { host_session: session, agent: agent ?? null } },
    lines: [`adopted ${displayPath(context, target)}  ${id}`],
    essential: [id],
  }
}
