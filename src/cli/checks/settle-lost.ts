import path from 'node:path'
import { PostflightError } from '../../core/errors.ts'
import { MARKER_FILE } from '../../core/files.ts'
import { shellIdentity } from '../../core/hosts/index.ts'
import { checkList } from '../../core/messages/checks.ts'
import { CLEAR_TEXT, JOURNAL_DETAILS } from '../../core/messages/commands.ts'
import { errorMessage } from '../../core/messages/errors.ts'
import { isSafeName, parseTaskReference, SPECS_ITSELF } from '../../core/task-folder.ts'
import { isMeant } from '../../io/find-task-folder.ts'
import { forgetGivenUp } from '../../io/markers/given-up.ts'
import { type CommandContext, recordInJournal } from '../context.ts'
import type { ClearDocument } from '../documents/clear.ts'
import { findLostMarkers, type LostMarker } from '../lost-markers.ts'

/** Settles markers that were removed by hand, so that the verdict of `status` no longer counts them. */

/** How to settle. */
interface Settling {
  readonly isDryRun: boolean
  /** The ids of the markers that were cleared a moment ago: a full disk may have kept that out of the journal. */
  readonly cleared: ReadonlySet<string | null | undefined>
}

/** The result for a marker. */
type Settled =
  | { readonly kind: 'cleared'; readonly data: ClearDocument['cleared'][number]; readonly lines: readonly string[] }
  | { readonly kind: 'kept'; readonly data: ClearDocument['kept'][number]; readonly lines: readonly string[] }

/**
 * Settles the lost markers of a task, or of all tasks. A session cannot settle its own marker whose checks have not
 * passed: removing the file would be the way around them.
 */
export function settleLost(
  context: CommandContext,
  root: string,
  task: string | undefined,
  { isDryRun, cleared }: Settling,
): Settled[] {
  const session = shellIdentity(context.environment)?.session
  const lost = lostOf(context, root, task).filter(({ record }) => record === undefined || !cleared.has(record.id))
  return lost.map((lost): Settled => {
    const { kind, relative, record, unproven } = lost
    const base = { task: lost.task, path: path.join(root, relative), marker_id: record?.id ?? null }
    if (session !== undefined && record?.sessions.has(session) === true && unproven.length > 0) {
      const { code, args } = new PostflightError('checks-refused', {
        ...{ path: `${relative}/${MARKER_FILE}`, refusal: 'removed', commands: checkList(unproven), unchecked: false },
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
          detail: JOURNAL_DETAILS.fileGone,
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

/** The lost markers of the task; none where the journal cannot be read. */
function lostOf(context: CommandContext, root: string, task: string | undefined): LostMarker[] {
  try {
    const lost = findLostMarkers(context, root)
    if (task === undefined || lost.length === 0) return lost
    const name = task.slice(task.lastIndexOf('/') + 1)
    const reference = name === SPECS_ITSELF || isSafeName(name) ? parseTaskReference(name) : undefined
    return lost.filter((one) => one.task === name || (reference !== undefined && isMeant(one, reference)))
  } catch (error) {
    if (error instanceof PostflightError) return []
    throw error
  }
}
