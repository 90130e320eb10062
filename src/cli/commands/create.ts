import path from 'node:path'
import { PostflightError } from '../../core/errors.ts'
import { MARKER_FILE } from '../../core/files.ts'
import {
  DEFAULT_REASON,
  isMarkerId,
  MAIN_AGENT,
  MAX_CHECKLIST_STEPS,
  type Marker,
  type MarkerStep,
  newMarkerFields,
  withFields,
} from '../../core/marker.ts'
import { CONFLICTING_OWNERS, CREATE_NOTES, JOURNAL_DETAILS } from '../../core/messages/commands.ts'
import { OPTION_EXPECTATIONS } from '../../core/messages/usage.ts'
import { markerDisplayPath, type StoredMarker } from '../../core/stored-marker.ts'
import { type TaskFolder, taskNumberOf, taskWord } from '../../core/task-folder.ts'
import { newMarkerId, randomCharacters } from '../../io/marker-id.ts'
import { writeNewMarker } from '../../io/marker-store.ts'
import { type CommandContext, type CommandResult, displayPath, recordInJournal } from '../context.ts'
import type { CreateDocument } from '../documents/create.ts'
import { callerOf, type Identity } from '../identity.ts'
import { prepareTaskFolder } from '../new-task-folder.ts'
import { checkIds, checkOneLine } from '../option-values.ts'

/** `postflight create`: makes the task folder, writes the marker, and starts its count. */

export interface CreateOptions {
  readonly skill?: string
  readonly operation?: string
  readonly reason?: string
  readonly step: readonly string[]
  readonly sessionId?: string
  readonly hostSession?: string
  readonly agent?: string
  readonly agentType?: string
  readonly force: boolean
}

const DEFAULT_SKILL = 'manual'
const DEFAULT_OPERATION = 'work'

export function create(
  context: CommandContext,
  task: string,
  slug: string | undefined,
  options: CreateOptions,
): CommandResult<CreateDocument> {
  checkValues(options)
  const { root, found, folder } = prepareTaskFolder(context, task, slug)
  const identity = promiserOf(context, options)
  const { fields, keepsCount, previous } = writeNewMarker(folder, (present) => {
    const conflict = present === undefined ? undefined : foreignOwner(present, identity.session, options.sessionId)
    if (conflict !== undefined && !options.force) throw conflict
    const previous = present?.marker
    const keepsCount = previous !== undefined && conflict === undefined && isSamePromise(previous, options.operation)
    return {
      fields: fieldsFor(context, folder, options, identity, keepsCount ? previous : undefined),
      keepsCount,
      previous,
    }
  })
  const { id } = fields
  recordInJournal(context, root, [
    {
      event: 'create',
      markerId: id,
      task: folder.task,
      hostSession: identity.session,
      agent: identity.agent,
      detail:
        previous === undefined
          ? undefined
          : keepsCount
            ? JOURNAL_DETAILS.renewed
            : JOURNAL_DETAILS.replaced(previous.id),
    },
  ])
  const target = path.join(folder.path, MARKER_FILE)
  const verb = keepsCount ? 'renewed' : previous === undefined ? 'created' : 'replaced'
  return {
    exitCode: 0,
    data: {
      id,
      path: target,
      task: folder.task,
      renewed: keepsCount,
      replaced: previous !== undefined && !keepsCount ? (previous.id ?? true) : null,
      owner: { host_session: identity.session ?? null, agent: identity.agent ?? null },
    },
    lines: [
      `${verb} ${displayPath(context, target)}  ${id}`,
      ...(found === undefined ? [`  ${CREATE_NOTES.newRoot(root)}`] : []),
      ...(identity.session === undefined ? [`  ${unownedNote(identity)}`] : []),
    ],
    // The hook learns the owner from the id in this output, so --quiet keeps it.
    essential: [id],
  }
}

/** The owner. `--agent-type` names a sub-agent, so the owner is not `main`, even if main's shell runs the command. */
function promiserOf(context: CommandContext, options: CreateOptions): Identity {
  const identity = callerOf(context, options)
  const isForSubagent = options.agentType !== undefined && identity.agent === MAIN_AGENT
  return isForSubagent ? { ...identity, agent: undefined } : identity
}

/** The note for a marker without a session, which never blocks a main conversation. */
function unownedNote({ agent }: Identity): string {
  return agent === MAIN_AGENT ? CREATE_NOTES.holdsNobody : CREATE_NOTES.unowned
}

function checkValues(options: CreateOptions): void {
  if (options.agent === MAIN_AGENT && options.agentType !== undefined) {
    throw new PostflightError('value-invalid', {
      option: '--agent',
      value: options.agent,
      expected: OPTION_EXPECTATIONS.subAgent,
    })
  }
  checkOneLine([
    ['--skill', options.skill],
    ['--operation', options.operation],
    ['--session-id', options.sessionId],
    ...options.step.map((step): [string, string] => ['--step', step]),
  ])
  checkIds([
    ['--host-session', options.hostSession],
    ['--agent', options.agent],
    ['--agent-type', options.agentType],
  ])
  if (options.step.length > MAX_CHECKLIST_STEPS) {
    const expected = OPTION_EXPECTATIONS.atMostTimes(MAX_CHECKLIST_STEPS)
    throw new PostflightError('value-invalid', { option: '--step', value: String(options.step.length), expected })
  }
}

/** The error for a marker that this session must not replace: another session's, or one of unknown origin. */
function foreignOwner(
  present: StoredMarker,
  session: string | undefined,
  sessionId: string | undefined,
): PostflightError | undefined {
  const { marker, folder } = present
  const path = markerDisplayPath(folder)
  const conflict = (whose: string): PostflightError =>
    new PostflightError('marker-of-other-session', { path, whose, task: folder.task })
  // Without its marker, the driver would not find the run.
  if (marker.workflow) throw new PostflightError('marker-of-workflow', { path, task: taskWord(folder) })
  if (marker.hostSession !== undefined) {
    return marker.hostSession === session ? undefined : conflict(CONFLICTING_OWNERS.hostSession(marker.hostSession))
  }
  if (sessionId !== undefined && marker.sessionId !== undefined && marker.sessionId !== sessionId) {
    return conflict(CONFLICTING_OWNERS.skillSession(marker.sessionId))
  }
  if (session !== undefined && marker.fields === undefined) return conflict(CONFLICTING_OWNERS.unparsed)
  if (session !== undefined && sessionId === undefined) {
    return conflict(CONFLICTING_OWNERS.unowned(marker.sessionId))
  }
  return undefined
}

/** True when `create` renews a pending marker, which keeps its id and its count: it is for the same operation. */
function isSamePromise(marker: Marker, operation: string | undefined): boolean {
  return marker.fields !== undefined && (operation === undefined || marker.operation === operation)
}

function fieldsFor(
  context: CommandContext,
  folder: TaskFolder,
  options: CreateOptions,
  identity: Identity,
  renewed: Marker | undefined,
): Readonly<Record<string, unknown>> & { readonly id: string } {
  const taskNumber = taskNumberOf(folder.task) ?? renewed?.taskNumber ?? 0
  const done = new Set(renewed?.steps.filter((step) => step.done).map((step) => step.name))
  const steps: MarkerStep[] = options.step.map((name) => ({ name, done: done.has(name) }))
  const id = isMarkerId(renewed?.id) ? renewed.id : newMarkerId()
  const fresh = newMarkerFields({
    id,
    sessionId: options.sessionId ?? renewed?.sessionId ?? newSessionId(context.nowMs),
    skill: options.skill ?? renewed?.skill ?? DEFAULT_SKILL,
    taskNumber,
    operation: options.operation ?? renewed?.operation ?? DEFAULT_OPERATION,
    reason: options.reason ?? renewed?.reason ?? DEFAULT_REASON,
    createdMs: context.nowMs,
    hostSession: identity.session,
    agent: identity.agent,
    agentType: options.agentType ?? renewed?.agentType,
    // Without new steps the list stays as it is in the file, unknown keys included.
    steps: steps.length > 0 ? steps : undefined,
  })
  // The agent is learnt again, because another agent of the session may renew the marker.
  return { ...withFields(renewed?.fields ?? {}, { agent_id: undefined, ...fresh }), id }
}

function newSessionId(nowMs: number): string {
  return `sess_${Math.floor(nowMs / 1000)}_${randomCharacters(6)}`
}
