import path from 'node:path'
import { PostflightError } from '../../core/errors.ts'
import { MARKER_FILE } from '../../core/files.ts'
import { isMarkerId } from '../../core/marker.ts'
import { JOURNAL_DETAILS } from '../../core/messages/commands.ts'
import type { TaskFolder } from '../../core/task-folder.ts'
import { toIsoSeconds } from '../../core/time.ts'
import { wasGivenUp } from '../../io/given-up.ts'
import { requirePromise } from '../../io/marker-file.ts'
import { newMarkerId } from '../../io/marker-id.ts'
import { changeMarker, reviveAbandoned, writeNewMarker } from '../../io/marker-store.ts'
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

/** `postflight adopt`: gives a marker to the current host session. An abandoned marker becomes a new one. */

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
  const owner = {
    cc_session_id: session,
    agent_id: agent,
    agent_type: undefined,
    owner_from: undefined,
    stop_hook_active: false,
    wait: undefined,
  }
  // An abandoned marker becomes a new promise, so it gets a new id.
  const revived = reviveAbandoned(folder, () => ({
    fields: { created: toIsoSeconds(context.nowMs), id: newMarkerId(), waits: undefined, ...owner },
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
      detail: revived === undefined ? undefined : JOURNAL_DETAILS.wasAbandoned,
    },
  ])
  const newOwner = { host_session: session, agent: agent ?? null }
  return {
    exitCode: 0,
    data: { id, path: target, task: folder.task, revived: revived !== undefined, owner: newOwner },
    lines: [`adopted ${displayPath(context, target)}  ${id}`],
    essential: [id],
  }
}

/** Gives a pending marker a new owner. It keeps its id, from which the hook learns the agent. */
function takeOver(folder: TaskFolder, owner: object): { readonly fields: { readonly id: string } } {
  const present = requirePromise(folder)
  if (present !== undefined && wasGivenUp(present)) return promiseAnew(folder, owner)
  const { plan } = changeMarker(
    folder,
    (marker) => ({ fields: { id: isMarkerId(marker.id) ? marker.id : newMarkerId(), ...owner } }),
    { replaceUnparsed: true },
  )
  return plan
}

/** Makes a promise anew that was given up before: it gets an id and a count of its own. */
function promiseAnew(folder: TaskFolder, owner: object): { readonly fields: { readonly id: string } } {
  return writeNewMarker(folder, (present) => {
    if (present === undefined) throw new PostflightError('marker-none', { folder: folder.relative })
    return { fields: { ...present.marker.fields, ...owner, id: newMarkerId() }, keepsCount: false }
  })
}
