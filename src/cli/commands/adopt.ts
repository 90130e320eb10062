import path from 'node:path'
import { newMarkerId } from '../../disk/ids.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { ABANDONED_FILE, MARKER_FILE } from '../../kernel/files.ts'
import { toIsoSeconds } from '../../kernel/time.ts'
import { checkList, keptUnchecked } from '../../marker/check-messages.ts'
import { wasGivenUp } from '../../marker/given-up.ts'
import { commandsOf, isOwnChecks, mayHaveChecks, withFields } from '../../marker/marker.ts'
import { writeNewMarker } from '../../marker/marker-store.ts'
import type { StoredMarker } from '../../marker/stored-marker.ts'
import { displayPath, recordInJournal, requireTaskFolder } from '../../project/command-context.ts'
import { isMarkerId } from '../../project/task-folder.ts'
import { isSessionFolder } from '../../project/task-folders.ts'
import * as field from '../../views/documents.ts'
import { callerOf } from '../caller.ts'
import { type Declaration, HOST_SESSION, idOf, type Run, TASK } from '../command.ts'

export const declaration = {
  description: "take over another session's marker, or an abandoned one",
  examples: ['adopt 259', 'adopt 259 --host-session SESSION_ID'],
  declare: (command) =>
    command
      .argument(...TASK)
      .option(...HOST_SESSION)
      .option('--agent <id>', '"main" or the id of the sub-agent', idOf('--agent')),
} satisfies Declaration

export const document = () =>
  field.object({
    id: field.text("The marker's id."),
    path: field.text("The marker's absolute path."),
    task: field.task,
    revived: field.flag('True if it was abandoned; it is a new marker now.'),
    owner: field.object({
      host_session: field.text("The host's id for the conversation."),
      agent: field.optionalText('"main" or the id of a sub-agent; null: not known.'),
    }),
    dropped_checks: field.texts('A check that the marker had, which was not written by this session.'),
  })

export const run: Run<typeof declaration, typeof document> = (context, [task], options) => {
  const folder = requireTaskFolder(context, task)
  if (isSessionFolder(folder)) throw new PostflightError('adopt-done', { folder: folder.relative })
  const { session, agent, ownerFrom } = callerOf(context, options)
  if (session === undefined) throw new PostflightError('session-unknown')
  const plan = (present: StoredMarker | undefined, isRevived: boolean) => {
    if (present === undefined) throw new PostflightError('marker-none', { folder: folder.relative })
    const { marker } = present
    const areOwn = isOwnChecks(marker, session)
    const keepsUnchecked = !areOwn && isOwnChecks(marker, context.session) && mayHaveChecks(marker)
    // A marker that was given up, or whose copy keeps its id, becomes a new one.
    const keepsCount = !isRevived && !keepsUnchecked && !wasGivenUp(present)
    const id = keepsCount && isMarkerId(marker.id) ? marker.id : newMarkerId()
    const changes = {
      cc_session_id: session,
      agent_id: agent,
      agent_type: undefined,
      owner_from: ownerFrom,
      stop_hook_active: false,
      wait: undefined,
      checks_session: undefined,
      ...(!areOwn && { checks: undefined }),
      ...(isRevived && { created: toIsoSeconds(context.nowMs), waits: undefined, outcome: undefined }),
    }
    return {
      fields: { ...withFields(marker.fields ?? {}, changes), id },
      dropped: areOwn ? [] : commandsOf(marker.checks),
      keepsUnchecked,
      keepsCount,
      replaces: id === marker.id ? undefined : marker.id,
      isRevived,
    }
  }
  const { fields, dropped, keepsUnchecked, replaces, isRevived } = writeNewMarker(folder, plan, { revives: true })
  const { id } = fields
  const target = path.join(folder.path, MARKER_FILE)
  recordInJournal(context, folder, {
    event: 'adopt',
    markerId: id,
    replaces,
    keeps: keepsUnchecked ? replaces : undefined,
    settles: !isRevived || keepsUnchecked ? [] : [replaces],
    hostSession: session,
    agent,
    detail:
      [
        ...(isRevived ? ['was abandoned'] : []),
        ...(dropped.length === 0 ? [] : [`checks dropped: ${checkList(dropped)}`]),
      ].join('; ') || undefined,
  })
  return {
    data: {
      id,
      path: target,
      task: folder.task,
      revived: isRevived,
      owner: { host_session: session, agent: agent ?? null },
      dropped_checks: dropped,
    },
    lines: [
      `adopted ${displayPath(context, target)}  ${id}`,
      ...(dropped.length === 0
        ? []
        : [`  dropped the checks of its previous session: ${checkList(dropped)}. \`create --check\` adds your own.`]),
      ...(keepsUnchecked ? [`  ${keptUnchecked(displayPath(context, path.join(folder.path, ABANDONED_FILE)))}`] : []),
    ],
    essential: [id],
  }
}
