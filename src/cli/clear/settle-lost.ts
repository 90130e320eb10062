import path from 'node:path'
import { isAgentShell, shellIdentity } from '../../hosts/all-hosts.ts'
import { errorMessage } from '../../kernel/error-messages.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { MARKER_FILE } from '../../kernel/files.ts'
import { checkList } from '../../marker/check-messages.ts'
import { forgetGivenUp } from '../../marker/given-up.ts'
import { type CommandContext, recordInJournal } from '../../project/command-context.ts'
import { isMeant, readReference } from '../../project/find-task-folder.ts'
import { findLostMarkers, type LostMarker } from '../../views/status/lost-markers.ts'
import type { ClearDocument } from './clear-view.ts'
import { CLEAR_DETAILS, CLEAR_TEXT } from './clear-view.ts'

/** The verdict of `status` then no longer counts them. */

interface Settling {
  readonly isDryRun: boolean
  readonly unchecked: boolean
  /** A full disk may have kept their end out of the journal. */
  readonly cleared: ReadonlySet<string | null | undefined>
}

type Settled =
  | { readonly kind: 'cleared'; readonly data: ClearDocument['cleared'][number]; readonly lines: readonly string[] }
  | { readonly kind: 'kept'; readonly data: ClearDocument['kept'][number]; readonly lines: readonly string[] }

/**
 * Settles the lost markers of a task, or of all tasks. Removing the file must not be the way around its checks: without
 * them a session never accepts its own marker as done, and only `--unchecked`, or a person at a terminal who names the
 * task, accepts another one.
 */
export function settleLost(
  context: CommandContext,
  root: string,
  task: string | undefined,
  { isDryRun, unchecked, cleared }: Settling,
): Settled[] {
  const session = shellIdentity(context.environment)?.session
  const skipsChecks =
    unchecked || (task !== undefined && context.terminal !== undefined && !isAgentShell(context.environment))
  const lost = lostOf(context, root, task).filter(({ record }) => record === undefined || !cleared.has(record.id))
  return lost.map((lost): Settled => {
    const { kind, relative, record, unproven } = lost
    const base = { task: lost.task, path: path.join(root, relative), marker_id: record?.id ?? null }
    const isOwn = session !== undefined && record?.sessions.has(session) === true
    if (unproven.length > 0 && (isOwn || !skipsChecks)) {
      const { code, args } = new PostflightError('checks-refused', {
        ...{ path: `${relative}/${MARKER_FILE}`, refusal: 'removed', commands: checkList(unproven), unchecked: !isOwn },
      })
      const message = errorMessage(code, args)
      return {
        kind: 'kept',
        data: { ...base, why: 'removed', message, checks: unproven, failed: null },
        lines: [message],
      }
    }
    if (!isDryRun) {
      forgetGivenUp({ root, relative })
      recordInJournal(context, root, [
        {
          event: 'clear',
          markerId: record?.id,
          settles: [],
          task: lost.task,
          hostSession: session,
          detail: CLEAR_DETAILS.fileGone,
        },
      ])
    }
    return {
      kind: 'cleared',
      data: { ...base, steps_left: [], files: [], checks: [], unchecked: false },
      lines: [CLEAR_TEXT.settled(relative, kind, isDryRun)],
    }
  })
}

function lostOf(context: CommandContext, root: string, task: string | undefined): readonly LostMarker[] {
  const name = task?.slice(task.lastIndexOf('/') + 1)
  // Its folder may have a name that no new folder could have.
  const reference = name === undefined ? undefined : readReference(name, true)
  const isOfTask = (one: LostMarker): boolean =>
    name === undefined || one.task === name || (reference !== undefined && isMeant(one, reference))
  try {
    return findLostMarkers(context, root, isOfTask)
  } catch (error) {
    if (error instanceof PostflightError) return []
    throw error
  }
}
