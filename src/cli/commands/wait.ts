import path from 'node:path'
import { type ErrorArguments, PostflightError } from '../../core/errors.ts'
import { MARKER_FILE } from '../../core/files.ts'
import { MAIN_AGENT, type Marker } from '../../core/marker.ts'
import { WAIT_TEXT } from '../../core/messages/commands.ts'
import { isUnowned } from '../../core/stop/rules.ts'
import { markerDisplayPath } from '../../core/stored-marker.ts'
import { taskWord } from '../../core/task-folder.ts'
import { announcedWait, waitsLeft } from '../../core/wait.ts'
import { changeMarker } from '../../io/marker-store.ts'
import {
  type CommandContext,
  type CommandResult,
  displayPath,
  recordInJournal,
  requireRoot,
  requireTaskFolder,
} from '../context.ts'
import type { WaitDocument } from '../documents/wait.ts'
import { callerOf, type Identity } from '../identity.ts'
import { checkIds, checkOneLine } from '../option-values.ts'

/** `postflight wait`: announces that the main conversation stops to wait (docs/design.md, "Waiting"). */

export interface WaitOptions {
  readonly for: string
  readonly hostSession?: string
}

/** The longest text (characters) of what an agent waits for. */
const PURPOSE_LIMIT = 500

export function wait(context: CommandContext, task: string, options: WaitOptions): CommandResult<WaitDocument> {
  checkOneLine([['--for', options.for]], PURPOSE_LIMIT)
  checkIds([['--host-session', options.hostSession]])
  const root = requireRoot(context)
  const folder = requireTaskFolder(root, task)
  const caller = callerOf(context, options)
  if (caller.session === undefined) throw new PostflightError('session-unknown')
  const { plan, marker } = changeMarker(folder, (present) => {
    const why = whyRefused(present, caller)
    if (why !== undefined) {
      throw new PostflightError('wait-refused', { path: markerDisplayPath(folder), task: taskWord(folder), why })
    }
    const { wait: before, waits: used = 0 } = present
    return { fields: announcedWait(options.for, before, used), left: waitsLeft(before, used) }
  })
  const { count } = plan.fields.wait
  recordInJournal(context, root, [
    {
      event: 'wait',
      markerId: marker.id,
      task: folder.task,
      hostSession: caller.session,
      agent: caller.agent,
      detail: options.for,
    },
  ])
  const target = path.join(folder.path, MARKER_FILE)
  const id = marker.id ?? null
  const line = `waiting ${displayPath(context, target)}${id === null ? '' : `  ${id}`}`
  return {
    exitCode: 0,
    data: { id, path: target, task: folder.task, for: options.for, count },
    // The hook learns from this line at which prompt the agent waits, so --quiet keeps it.
    lines: [line, `  ${plan.left === 'here-only' ? WAIT_TEXT.hereOnly : WAIT_TEXT.until}`],
    essential: [line],
  }
}

/** Why this promise may not wait; undefined if it may. */
function whyRefused(marker: Marker, { session, agent }: Identity): ErrorArguments['wait-refused']['why'] | undefined {
  if (isUnowned(marker)) return 'unowned'
  if (marker.hostSession !== session) return 'other-session'
  if (agent !== undefined && agent !== MAIN_AGENT) return 'by-sub-agent'
  const isSubAgents = marker.agentType !== undefined || (marker.agent !== undefined && marker.agent !== MAIN_AGENT)
  if (isSubAgents) return 'sub-agent'
  return waitsLeft(marker.wait, marker.waits ?? 0) === 'no' ? 'limit' : undefined
}
