import path from 'node:path'
import { PostflightError } from '../../core/errors.ts'
import { MARKER_FILE } from '../../core/files.ts'
import { isMarkerId } from '../../core/marker.ts'
import { markerDisplayPath } from '../../core/stored-marker.ts'
import { type TaskFolder, taskWord } from '../../core/task-folder.ts'
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
import type { AdoptDocument } from '../documents/adopt.ts'
import { callerOf } from '../identity.ts'
import { checkIds } from '../option-values.ts'

/** `postflight adopt`: the current host session takes a promise over; an abandoned one is made anew. */

export interface AdoptOptions {
  readonly hostSession?: string
  readonly agent?: string
}

export function adopt(context: CommandContext, task: string, options: AdoptOptions): CommandResult<AdoptDocument> {
  checkIds([
    ['--host-session', options.hostSession],
    ['--agent', options.agent],
  ])
  const root = requireRoot(context)
  const folder = requireTaskFolder(root, task)
  const { session, agent } = callerOf(context, options)
  if (session === undefined) throw new PostflightError('session-unknown')
  const owner = { cc_session_id: session, agent_id: agent, agent_type: undefined, stop_hook_active: false }
  // An abandoned promise is a new one, so it gets a new id.
  const revived = reviveAbandoned(folder, () => ({
    fields: { created: toIsoSeconds(context.nowMs), id: newMarkerId(), ...owner },
  }))
  const { id } = (revived ?? takeOver(folder, owner)).fields
  const target = path.join(folder.path, MARKER_FILE)
  recordInJournal(context, root, [
    {
      event: 'adopt',
      markerId: id,
      task: folder.task,
      hostSession: session,
      agent,
      detail: revived === undefined ? undefined : 'was abandoned',
    },
  ])
  return {
    exitCode: 0,
    data: {
      id,
      path: target,
      task: folder.task,
      revived: revived !== undefined,
      owner: { host_session: session, agent: agent ?? null },
    },
    lines: [`adopted ${displayPath(context, target)}  ${id}`],
    essential: [id],
  }
}

/** Gives a pending promise the owner. Its id stays: the hook learns the owner by it. */
function takeOver(folder: TaskFolder, owner: object): { readonly fields: { readonly id: string } } {
  const present = readMarker(folder)
  if (present === undefined) throw new PostflightError('marker-none', { folder: folder.relative })
  // The marker would be this session's, and the run still another's: nobody would drive it.
  if (present.kind === 'marker' && present.marker.workflow) {
    throw new PostflightError('marker-of-workflow', { path: markerDisplayPath(folder), task: taskWord(folder) })
  }
  const { plan } = changeMarker(
    folder,
    (marker) => ({ fields: { id: isMarkerId(marker.id) ? marker.id : newMarkerId(), ...owner } }),
    { replaceUnparsed: true },
  )
  return plan
}
