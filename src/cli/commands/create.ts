import path from 'node:path'
import * as z from 'zod/mini'
import { newMarkerId, randomCharacters } from '../../disk/ids.ts'
import { isAgentShell, shellIdentity } from '../../hosts/all-hosts.ts'
import { MAIN_AGENT } from '../../hosts/payload.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { ABANDONED_FILE, MARKER_FILE } from '../../kernel/files.ts'
import { counted, oneLine, QUOTE_LIMIT, quotedNames, shellWord } from '../../kernel/text.ts'
import { toIsoSeconds } from '../../kernel/time.ts'
import { type Environment, known, MAX_CHECKS } from '../../kernel/values.ts'
import { keptUnchecked } from '../../marker/check-messages.ts'
import { wasGivenUp } from '../../marker/given-up.ts'
import type { Marker, MarkerCheck, MarkerStep } from '../../marker/marker.ts'
import * as markers from '../../marker/marker.ts'
import { writeNewMarker } from '../../marker/marker-store.ts'
import { ONE_CALL_MS } from '../../marker/recorded-owner.ts'
import { markerDisplayPath, type StoredMarker } from '../../marker/stored-marker.ts'
import { type CommandContext, displayPath, recordInJournal } from '../../project/command-context.ts'
import { inTaskFolder } from '../../project/new-task-folder.ts'
import { isMarkerId, type TaskFolder, taskNumberOf } from '../../project/task-folder.ts'
import { hookNote } from '../../setup/install/unwired.ts'
import { findMarkers } from '../../stop/observe-stop.ts'
import * as field from '../../views/documents.ts'
import { callerOf, type Identity } from '../caller.ts'
import type { Declaration, OptionsOf, Run } from '../command.ts'
import { HOST_SESSION, idOf, invalidValue, lineOf, repeatable, TASK } from '../command.ts'

export const declaration = {
  free: true,
  description: 'create the marker of a pending postflight',
  examples: [
    'create 259 prove_completeness --skill skill-lean-research --operation research',
    'create 259 --step "update status" --step "git commit" --agent main',
    "create 259 --operation implement --check 'npm test'",
    'create 259 --operation plan --force',
  ],
  declare: (command) =>
    command
      .argument(...TASK)
      .argument('[slug]', 'name for a new task folder')
      .option('--skill <name>', 'name of the skill', lineOf('--skill'))
      .option('--operation <name>', 'name of the operation: research, plan, implement, …', lineOf('--operation'))
      .option('--reason <text>', 'the message to the agent when it stops too early')
      .option(...repeatable('--step <name>', 'a step of the checklist', lineOf('--step')))
      .option('--session-id <id>', "the skill's own session id (default: generated)", lineOf('--session-id'))
      .option(...HOST_SESSION)
      .option(
        '--agent <id>',
        '"main" or the id of the sub-agent (default: from the environment, or recorded by the hook)',
        idOf('--agent'),
      )
      .option('--agent-type <type>', 'block only sub-agents of this type', idOf('--agent-type'))
      .option(...repeatable('--check <command>', 'a shell command that must succeed before `clear`', lineOf('--check')))
      .option(
        ...repeatable(
          '--step-check <name=command>',
          'a shell command that must succeed before this step can be ticked',
          lineOf('--step-check'),
        ),
      )
      .option('--force', "replace another session's or another agent's marker", false),
} satisfies Declaration

export const document = () =>
  field.object({
    id: field.text("The marker's id."),
    path: field.text("The marker's absolute path."),
    task: field.task,
    renewed: field.flag('True if the same marker was pending already; it keeps its id and its count.'),
    replaced: field.optional(
      z.union([z.string(), z.literal(true)]),
      'The id of the replaced marker; true if that had no id; null if no marker was replaced.',
    ),
    dropped_steps: field.texts('Name of a ticked step of the previous marker that is not ticked in this one.'),
    kept_unchecked: field.flag('True if a marker with checks was replaced, which is kept as abandoned.'),
    owner: field.owner,
  })

type CreateOptions = OptionsOf<typeof declaration>

export const run: Run<typeof declaration, typeof document> = async (context, [task, slug], options) => {
  checkValues(options)
  const caller = callerOf(context, options)
  // Its owner is a sub-agent, even if main's shell runs the command (docs/design.md, "Ownership").
  const isForSubagent = options.agentType !== undefined && caller.agent === MAIN_AGENT
  const identity = isForSubagent ? { ...caller, agent: undefined } : caller
  const { folder, isNewRoot, fields, keepsCount, previous } = await inTaskFolder(
    context,
    task,
    slug,
    (missing) => commandLine(['create', task, missing], context.rootOption),
    (folder, isNewRoot) => ({ folder, isNewRoot, ...writeMarker(context, folder, identity, options) }),
  )
  const { root } = folder
  const { id } = fields
  const owner = { session: identity.session, agent: fields.agent_id }
  const dropped = droppedSteps(previous, keepsCount, options.step)
  const hasChecks = options.check.length + options.stepCheck.length > 0
  const replaced = keepsCount ? undefined : previous
  const isKept = replaced !== undefined && markers.mayHaveChecks(replaced)
  recordInJournal(context, folder, {
    event: 'create',
    markerId: id,
    hostSession: owner.session,
    agent: owner.agent,
    replaces: replaced?.id,
    keeps: isKept ? replaced.id : undefined,
    checks: runsOf(fields.checks),
    detail: keepsCount ? 'renewed' : replaced && `replaced ${replaced.id ?? 'an older marker'}`,
  })
  if (isOwnerLost(context, folder, owner)) context.note(OWNER_LOST)
  const notHeld = options.hostSession === undefined ? await hookNote(context, root) : undefined
  if (notHeld !== undefined) context.note(notHeld)
  const target = path.join(folder.path, MARKER_FILE)
  const verb = keepsCount ? 'renewed' : replaced === undefined ? 'created' : 'replaced'
  return {
    data: {
      id,
      path: target,
      task: folder.task,
      renewed: keepsCount,
      replaced: replaced === undefined ? null : (replaced.id ?? true),
      dropped_steps: dropped,
      kept_unchecked: isKept,
      owner: { host_session: owner.session ?? null, agent: owner.agent ?? null },
    },
    lines: [
      `${verb} ${displayPath(context, target)}  ${id}`,
      ...(isNewRoot ? [`  made specs/ in ${oneLine(root, QUOTE_LIMIT)}`] : []),
      ...(dropped.length === 0
        ? []
        : [`  ticked in the previous marker, but not in this one: ${quotedNames(dropped)}`]),
      ...(isKept ? [`  ${keptUnchecked(displayPath(context, path.join(folder.path, ABANDONED_FILE)))}`] : []),
      ...(identity.session === undefined ? unownedNotes(context.environment, identity.agent, hasChecks) : []),
    ],
    // The hook learns the owner from the id in this output, so --quiet keeps it.
    essential: [id],
  }
}

const OWNER_LOST =
  'postflight: the output of this command does not reach the hook, so it cannot learn the owner, and the marker may block any agent of the session. Add `--agent main`, or `--agent` with the id of the sub-agent.'

function unownedNotes(environment: Environment, agent: string | undefined, hasChecks: boolean): string[] {
  const blocks = agent === MAIN_AGENT ? '' : '; it blocks only sub-agents'
  const notes = [
    `this marker will not block your conversation${blocks}`,
    ...(hasChecks ? ['the checks of this marker are never run'] : []),
  ]
  const why = isAgentShell(environment) ? 'The session is unknown' : 'Not run by an agent'
  return notes.map((note) => `  ${why}, so ${note} (--host-session names a session)`)
}

function writeMarker(context: CommandContext, folder: TaskFolder, identity: Identity, options: CreateOptions) {
  return writeNewMarker(folder, (present) => {
    const conflict =
      present &&
      (foreignOwner(present, identity.session, options.sessionId) ?? otherAgent(present, identity.agent, options))
    if (conflict !== undefined && !options.force) throw conflict
    const previous = present?.marker
    if (present !== undefined && markers.hasUnreadableChecks(present.marker) && !options.force) {
      const path = markerDisplayPath(folder)
      throw new PostflightError('checks-refused', { path, refusal: 'unreadable', commands: '' })
    }
    // A marker that was given up becomes a new one, and checks of another session do not become this session's.
    const keepsCount =
      present !== undefined &&
      conflict === undefined &&
      isForOperation(present.marker, options.operation) &&
      (!markers.mayHaveChecks(present.marker) || markers.checksSessionOf(present.marker) === identity.session) &&
      !wasGivenUp(present)
    return {
      fields: fieldsFor(context, folder, options, identity, keepsCount ? previous : undefined),
      keepsCount,
      keepsUnchecked: true,
      previous,
    }
  })
}

function checkValues(options: CreateOptions): void {
  if (options.agent === MAIN_AGENT && options.agentType !== undefined) {
    const detail =
      'Give --agent main or --agent-type, not both: only sub-agents have a type, so such a marker would block no stop.'
    throw new PostflightError('usage', { detail })
  }
  checkCount('--step', options.step.length, markers.MAX_CHECKLIST_STEPS)
  checkCount('--check', options.check.length + options.stepCheck.length, MAX_CHECKS)
}

function checkCount(option: string, count: number, limit: number): void {
  if (count > limit) throw invalidValue(option, String(count), `can be given at most ${limit} times`)
}

function fieldsFor(
  context: CommandContext,
  folder: TaskFolder,
  options: CreateOptions,
  identity: Identity,
  renewed: Marker | undefined,
): Readonly<Record<string, unknown>> & { readonly id: string; readonly agent_id: string | undefined } {
  const taskNumber = taskNumberOf(folder.task) ?? renewed?.taskNumber ?? 0
  const done = new Set(renewed?.steps.filter((step) => step.done).map((step) => step.name))
  const steps: MarkerStep[] = options.step.map((name) => ({ name, done: done.has(name) }))
  const id = isMarkerId(renewed?.id) ? renewed.id : newMarkerId()
  const agent = identity.agent ?? renewed?.agent
  const fresh = known({
    id,
    session_id:
      options.sessionId ?? renewed?.sessionId ?? `sess_${Math.floor(context.nowMs / 1000)}_${randomCharacters(6)}`,
    skill: options.skill ?? renewed?.skill ?? markers.DEFAULT_SKILL,
    task_number: taskNumber,
    operation: options.operation ?? renewed?.operation ?? markers.DEFAULT_OPERATION,
    reason: options.reason ?? renewed?.reason ?? markers.DEFAULT_REASON,
    created: toIsoSeconds(context.nowMs),
    stop_hook_active: false,
    cc_session_id: identity.session,
    owner_from: identity.ownerFrom,
    agent_id: agent,
    agent_type: options.agentType ?? renewed?.agentType,
    // Without new steps the list keeps its unknown keys.
    steps: steps.length > 0 ? steps : undefined,
    checks: newChecks(options, steps.length > 0 ? steps : (renewed?.steps ?? []), renewed),
  })
  return { ...markers.withFields(renewed?.fields ?? {}, fresh), id, agent_id: agent }
}

function newChecks({ check, stepCheck }: CreateOptions, steps: readonly MarkerStep[], renewed: Marker | undefined) {
  const given: MarkerCheck[] = [...check.map((run) => ({ run })), ...stepCheck.map((one) => stepCheckOf(one, steps))]
  const fresh = given.filter(
    ({ run, step }) => renewed?.checks.every((one) => one.run !== run || one.step !== step) ?? true,
  )
  if (fresh.length === 0) return undefined
  const before = renewed?.checks.length ?? 0
  if (before + fresh.length > MAX_CHECKS) {
    const room = counted(MAX_CHECKS - before, 'check')
    const expected = `can add at most ${room} to this marker, which has ${before} (the limit is ${MAX_CHECKS})`
    throw invalidValue('--check', String(fresh.length), expected)
  }
  return [...((renewed?.fields?.checks ?? []) as object[]), ...fresh]
}

function runsOf(checks: unknown): string[] {
  return Array.isArray(checks) ? checks.flatMap((check) => markers.parseCheck(check)?.run ?? []) : []
}

function stepCheckOf(value: string, steps: readonly MarkerStep[]): MarkerCheck {
  // The longest name that fits: `a=b=CMD` is the check of a step "a=b", if there is one.
  const names = steps.map(({ name }) => name).filter((name) => value.startsWith(`${name}=`))
  const [step] = names.sort((one, other) => other.length - one.length)
  const run = value.slice((step ?? '').length + 1)
  if (step === undefined || run.trim() === '') {
    const [, unknown] = /^([^=]+)=.*\S/.exec(value) ?? []
    const isUnknown = step === undefined && unknown !== undefined
    const expected = isUnknown
      ? `must name a step of the checklist (for a new one, add --step ${shellWord(oneLine(unknown, QUOTE_LIMIT))})`
      : 'takes NAME=COMMAND, with the name of a step of the checklist'
    throw invalidValue('--step-check', value, expected)
  }
  return { run, step }
}

function droppedSteps(previous: Marker | undefined, isRenewed: boolean, steps: readonly string[]): string[] {
  const ticked = previous?.steps.flatMap(({ name, done }) => (done ? name : [])) ?? []
  if (!isRenewed) return ticked
  return steps.length === 0 ? [] : ticked.filter((name) => !steps.includes(name))
}

/** If a host's shell does not say which agent runs `create`, a marker with an owner can only be renewed. */
function otherAgent({ marker, folder }: StoredMarker, agent: string | undefined, options: CreateOptions) {
  if (marker.agent === undefined || marker.agent === agent) return undefined
  if (agent === undefined && isRenewal(marker, options)) return undefined
  const path = markerDisplayPath(folder)
  return new PostflightError('marker-of-other-agent', { path, agent: marker.agent, operation: marker.operation })
}

/** By its operation, or without any change. */
function isRenewal(marker: Marker, options: CreateOptions): boolean {
  const { operation, agentType, reason, skill, step, check, stepCheck } = options
  if (agentType !== marker.agentType) return false
  if (operation !== undefined) return isForOperation(marker, operation)
  return reason === undefined && skill === undefined && [...step, ...check, ...stepCheck].length === 0
}

function foreignOwner({ marker, folder }: StoredMarker, session: string | undefined, sessionId: string | undefined) {
  const { hostSession, sessionId: named, fields } = marker
  const isOthers = named !== undefined && sessionId !== undefined && named !== sessionId
  const isUnproven = session !== undefined && (fields === undefined || sessionId === undefined)
  if (hostSession === undefined ? !isOthers && !isUnproven : hostSession === session) return undefined
  const unowned = `pending without a host session${named === undefined ? '' : ` (${named})`}`
  const whose = hostSession === undefined ? unowned : `pending for host session ${hostSession}`
  return new PostflightError('marker-of-other-session', { path: markerDisplayPath(folder), whose, task: folder.task })
}

function isForOperation(marker: Marker, operation: string | undefined): boolean {
  return marker.fields !== undefined && (operation === undefined || marker.operation === operation)
}

/**
 * Whether the hook cannot learn which agent made the marker: the output does not reach it, and the time of the shell
 * call is unknown or fits another marker too.
 */
function isOwnerLost(context: CommandContext, folder: TaskFolder, { session, agent }: Partial<Identity>): boolean {
  if (session === undefined || agent !== undefined) return false
  const host = shellIdentity(context.environment)
  if (!context.isOutputCaught({ isPiped: host?.isPiped === true })) return false
  if (host?.session !== session || host.tellsDuration !== true) return true
  return findMarkers([folder.root]).markers.some(
    (one) =>
      one.kind === 'marker' &&
      one.folder.path !== folder.path &&
      one.marker.hostSession === session &&
      one.marker.agent === undefined &&
      one.times.changedMs > context.nowMs - ONE_CALL_MS,
  )
}
