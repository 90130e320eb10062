import fs from 'node:fs'
import path from 'node:path'
import { isUnowned } from '../../core/decision.ts'
import { PostflightError } from '../../core/errors.ts'
import { MARKER_FILE, SPECS_FOLDER } from '../../core/files.ts'
import { shellIdentity } from '../../core/hosts/index.ts'
import {
  DEFAULT_REASON,
  isMarkerId,
  MAIN_AGENT,
  type Marker,
  type MarkerStep,
  newMarkerFields,
  withFields,
} from '../../core/marker.ts'
import { CREATE_NOTES } from '../../core/messages.ts'
import {
  checkSlug,
  parseTaskReference,
  SPECS_ITSELF,
  type TaskReference,
  taskFolderName,
  taskNumberOf,
} from '../../core/task-folder.ts'
import { oneLine } from '../../core/text.ts'
import { errorCode } from '../../io/file-access/errors.ts'
import { kindAt } from '../../io/file-access/looking.ts'
import { markerDisplayPath, type StoredMarker } from '../../io/marker-file.ts'
import { newMarkerId, randomCharacters } from '../../io/marker-id.ts'
import { writeNewMarker } from '../../io/marker-store.ts'
import { type TaskFolder, taskWord } from '../../io/search.ts'
import { matchingFolders, taskFolderAt } from '../../io/tasks.ts'
import {
  type CommandContext,
  type CommandResult,
  displayPath,
  findCommandRepository,
  findCommandRoot,
  record,
  startOf,
} from '../context.ts'

/** `postflight create`: make the folder, write the marker, start its count. */

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
const VALUE_LIMIT = 2000

export function create(
  context: CommandContext,
  task: string,
  slug: string | undefined,
  options: CreateOptions,
): CommandResult {
  checkValues(options)
  const { root, found, folder } = prepareTaskFolder(context, task, slug)
  const identity = identityOf(context, options)
  let replaced: Marker | undefined
  let keepsCount = false
  const { fields } = writeNewMarker(folder, (present) => {
    replaced = present?.marker
    const conflict = present === undefined ? undefined : foreignOwner(present, identity.session, options.sessionId)
    if (conflict !== undefined && !options.force) throw conflict
    keepsCount = present !== undefined && conflict === undefined && isSamePromise(present.marker, options.operation)
    return {
      fields: fieldsFor(context, folder, options, identity, keepsCount ? present?.marker : undefined),
      keepsCount,
    }
  })
  const id = String(fields.id)
  record(context, root, [
    {
      event: 'create',
      markerId: id,
      task: folder.task,
      hostSession: identity.session,
      agent: identity.agent,
      detail:
        replaced === undefined ? undefined : keepsCount ? 'renewed' : `replaced ${replaced.id ?? 'an older marker'}`,
    },
  ])
  const target = path.join(folder.path, MARKER_FILE)
  const verb = keepsCount ? 'renewed' : replaced === undefined ? 'created' : 'replaced'
  return {
    exitCode: 0,
    data: {
      id,
      path: target,
      task: folder.task,
      renewed: keepsCount,
      replaced: replaced !== undefined && !keepsCount ? (replaced.id ?? true) : null,
      owner: { host_session: identity.session ?? null, agent: identity.agent ?? null },
    },
    lines: [
      `${verb} ${displayPath(context, target)}  ${id}`,
      ...(found === undefined ? [`  ${CREATE_NOTES.newRoot(root)}`] : []),
      ...(identity.session === undefined ? [`  ${CREATE_NOTES.unowned}`] : []),
    ],
    // The hook learns the owner from the id in this output, so --quiet keeps it.
    essential: [id],
  }
}

/** The task's folder, made where there is none, as its root may be (`found` is undefined then). @throws {PostflightError} where `task` and `slug` name no one folder. */
export function prepareTaskFolder(
  context: CommandContext,
  task: string,
  slug: string | undefined,
): { root: string; found: string | undefined; folder: TaskFolder } {
  const found = findCommandRoot(context)
  const root = found ?? newRoot(context)
  const folder = taskFolderFor(root, task, slug)
  makeFolder(folder)
  return { root, found, folder }
}

interface Identity {
  readonly session: string | undefined
  readonly agent: string | undefined
}

/** Who makes the promise: what was given, else what the host's shell says (DESIGN section 7). */
export function identityOf(
  context: CommandContext,
  options: { readonly hostSession?: string; readonly agent?: string },
): Identity {
  const fromShell = shellIdentity(context.environment)
  // An agent of the environment belongs to the session of the environment, not to one that was given.
  const sameSession = options.hostSession === undefined || options.hostSession === fromShell?.session
  return {
    session: options.hostSession ?? fromShell?.session,
    agent: options.agent ?? (sameSession ? fromShell?.agent : undefined),
  }
}

function checkValues(options: CreateOptions): void {
  if (options.agent === MAIN_AGENT && options.agentType !== undefined) {
    throw new PostflightError('value-invalid', {
      option: '--agent-type',
      value: options.agentType,
      expected: 'is for sub-agents, and --agent main is none',
    })
  }
  checkOneLine([
    ['--skill', options.skill],
    ['--operation', options.operation],
    ['--session-id', options.sessionId],
    ['--host-session', options.hostSession],
    ['--agent', options.agent],
    ['--agent-type', options.agentType],
    ...options.step.map((step): [string, string] => ['--step', step]),
  ])
}

/** Refuses option values that are empty or no line of text, as an unset variable would give. */
export function checkOneLine(values: readonly (readonly [string, string | undefined])[]): void {
  for (const [option, value] of values) {
    if (value === undefined) continue
    if (value === '' || value !== oneLine(value, VALUE_LIMIT)) {
      throw new PostflightError('value-invalid', { option, value, expected: 'must be one line of text' })
    }
  }
}

/** Where there is no `specs/` yet: in the named folder, beside the nearest `.git`, or here. */
function newRoot(context: CommandContext): string {
  const start = startOf(context)
  if (start.explicit) return start.path
  const repository = findCommandRepository(start.path)
  if (repository !== undefined) return repository
  // A specs/ there would be the root of every project below that has none of its own.
  if ([path.parse(start.path).root, context.findHome()].includes(start.path)) {
    throw new PostflightError('root-unlikely', { start: start.path })
  }
  return start.path
}

function taskFolderFor(root: string, task: string, slug: string | undefined): TaskFolder {
  const reference = parseTaskReference(task)
  if (slug !== undefined) checkSlug(slug)
  if (reference.kind === 'specs') throw new PostflightError('task-invalid', { task: SPECS_ITSELF })
  const here = existing(root, reference)
  if (reference.kind === 'name') {
    if (slug !== undefined || taskNumberOf(reference.name) === undefined) {
      throw new PostflightError('task-invalid', { task })
    }
    return here[0] ?? newTaskFolder(root, reference.name)
  }
  const specs = path.join(root, SPECS_FOLDER)
  if (slug !== undefined) {
    const wanted = taskFolderName(reference.number, slug)
    const other = here[0]
    if (other !== undefined && !here.some((folder) => folder.task === wanted)) {
      throw new PostflightError('task-has-other-folder', { task, folder: other.task })
    }
    return taskFolderAt(root, wanted)
  }
  const [first, second] = here
  if (first === undefined) throw new PostflightError('slug-missing', { task, specs })
  if (second !== undefined) {
    throw new PostflightError('task-ambiguous', { task, folders: here.map((folder) => folder.task).join(', ') })
  }
  return first
}

/** `20_foo` is `020_foo`, and a number that has a folder gets no second one. */
function newTaskFolder(root: string, name: string): TaskFolder {
  const number = taskNumberOf(name) ?? 0
  return taskFolderFor(root, String(number), name.replace(/^\d+_/, ''))
}

/** Task folders directly below `specs/`: an archived task is not taken up again by its number. */
function existing(root: string, reference: TaskReference): TaskFolder[] {
  return matchingFolders(root, reference).filter(
    (folder) => path.dirname(folder.path) === path.join(root, SPECS_FOLDER),
  )
}

function makeFolder(folder: TaskFolder): void {
  for (const target of [path.dirname(folder.path), folder.path]) {
    try {
      fs.mkdirSync(target)
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') {
        throw new PostflightError('cannot-write', { path: target, detail: errorCode(error) }, error)
      }
      const kind = kindAt(target)
      if (kind !== 'folder') throw new PostflightError('not-a-folder', { path: target, kind: kind ?? 'gone' })
    }
  }
}

/** A marker of another session is not ours to replace; one without a session, or ours, is. */
function foreignOwner(
  present: StoredMarker,
  session: string | undefined,
  sessionId: string | undefined,
): PostflightError | undefined {
  const { marker, folder } = present
  const path = markerDisplayPath(folder)
  const conflict = (whose: string): PostflightError =>
    new PostflightError('marker-of-other-session', { path, whose, task: folder.task })
  // Its driver would find the run no more.
  if (marker.workflow) throw new PostflightError('marker-of-workflow', { path, task: taskWord(folder) })
  if (!isUnowned(marker)) {
    return marker.hostSession === session ? undefined : conflict(`pending for host session ${marker.hostSession}`)
  }
  if (sessionId !== undefined && marker.sessionId !== undefined && marker.sessionId !== sessionId) {
    return conflict(`pending for session ${marker.sessionId}`)
  }
  if (session !== undefined && marker.fields === undefined) return conflict('a marker of unknown origin')
  if (session !== undefined && sessionId === undefined) {
    return conflict(`pending without a host session${marker.sessionId === undefined ? '' : ` (${marker.sessionId})`}`)
  }
  return undefined
}

/** `create` on a marker that is pending in the same session for the same operation keeps its id and its count. */
function isSamePromise(marker: Marker, operation: string | undefined): boolean {
  return marker.fields !== undefined && (operation === undefined || marker.operation === operation)
}

function fieldsFor(
  context: CommandContext,
  folder: TaskFolder,
  options: CreateOptions,
  identity: Identity,
  renewed: Marker | undefined,
): Record<string, unknown> {
  const taskNumber = taskNumberOf(folder.task) ?? renewed?.taskNumber ?? 0
  const done = new Set(renewed?.steps.filter((step) => step.done).map((step) => step.name))
  const steps: MarkerStep[] = options.step.map((name) => ({ name, done: done.has(name) }))
  const fresh = newMarkerFields({
    id: isMarkerId(renewed?.id) ? renewed.id : newMarkerId(),
    sessionId: options.sessionId ?? renewed?.sessionId ?? newSessionId(context.nowMs),
    skill: options.skill ?? renewed?.skill ?? DEFAULT_SKILL,
    taskNumber,
    operation: options.operation ?? renewed?.operation ?? DEFAULT_OPERATION,
    reason: options.reason ?? renewed?.reason ?? DEFAULT_REASON,
    createdMs: context.nowMs,
    hostSession: identity.session,
    agent: identity.agent,
    agentType: options.agentType ?? renewed?.agentType,
    // Without new ones the list stays as it lies there, unknown keys included.
    steps: steps.length > 0 ? steps : undefined,
  })
  // The owner is learnt anew: another agent of the session may be the one that renews.
  return withFields(renewed?.fields ?? {}, { agent_id: undefined, ...fresh })
}

function newSessionId(nowMs: number): string {
  return `sess_${Math.floor(nowMs / 1000)}_${randomCharacters(6)}`
}
