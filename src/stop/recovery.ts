import { type CommandReader, commandLine, rootOptionFor } from '../kernel/command-line.ts'
import { inLine, oneLine } from '../kernel/text.ts'
import { type Marker, UNCHECKED } from '../marker/marker.ts'
import { MAX_NAME_LENGTH, type TaskFolder, taskWord } from '../project/task-folder.ts'
import { isSessionFolder } from '../project/task-folders.ts'
import { RECOVERY_TEXT } from './stop-messages.ts'

/** Leaves out the markers' own reasons: they may come from a cloned repository. */

const MAX_LISTED = 10
/** In characters; the answer has 4,000. */
const LIST_LIMIT = 3_000
const NAME_LIMIT = 80
/** A folder in a folder. A task is listed as a whole, because commands need its name. */
const TASK_LIMIT = 2 * MAX_NAME_LENGTH + 1

type Placed = Readonly<{ folder: TaskFolder; ageMs: number }>
export type UnfinishedPostflight = Placed & Readonly<{ state: 'pending' | 'abandoned'; marker: Marker }>
/** `approval`: by a person. `lost`: active, but without a run file, so no hook finds it. */
export type UnfinishedStatus = 'running' | 'approval' | 'lost' | 'stalled'

export interface UnfinishedWorkflow extends Placed {
  readonly name: string
  readonly hostSession: string | undefined
  readonly status: UnfinishedStatus
  readonly expectsStart: boolean
}

export function composeRecovery(
  reader: CommandReader,
  postflights: readonly UnfinishedPostflight[],
  session: string | undefined,
  runs: readonly UnfinishedWorkflow[] = [],
): string | undefined {
  const roots = [...new Set([...postflights, ...runs].map(({ folder }) => folder.root))]
  const parts = roots.map((root) => {
    const isHere = ({ folder }: Placed): boolean => folder.root === root
    return composeForRoot(root, rootOptionFor(reader, root), postflights.filter(isHere), runs.filter(isHere), session)
  })
  return parts.length === 0 ? undefined : parts.join('\n\n')
}

function composeForRoot(
  root: string,
  rootOption: string | undefined,
  postflights: readonly UnfinishedPostflight[],
  runs: readonly UnfinishedWorkflow[],
  session: string | undefined,
): string {
  const described = runs.map((item) => describeRun(item, rootOption, session))
  const all = [...described, ...postflights.map((item) => describe(item, session))]
  let room = LIST_LIMIT
  const lines = all.slice(0, MAX_LISTED).filter((line) => {
    room -= line.length
    return room >= 0
  })
  const rest = all.length - lines.length
  const command = (...words: string[]): string => `${commandLine(words, rootOption)} <task>`
  const clear = command('clear')
  const definitions = postflights.filter(({ folder }) => isSessionFolder(folder))
  const isOwn = ({ marker }: UnfinishedPostflight): boolean => marker.hostSession === session
  const resume = runs.every((run) => isRunningIn(run, session)) ? undefined : command('workflow', 'resume')
  const advice = [
    ...(definitions.length === postflights.length ? [] : [RECOVERY_TEXT.advice(command('adopt'), clear)]),
    ...(definitions.some(isOwn) ? [RECOVERY_TEXT.doneAdvice(commandLine(['done'], rootOption))] : []),
    ...(definitions.some((item) => item.state === 'abandoned' && !isOwn(item)) ? [RECOVERY_TEXT.doneClear(clear)] : []),
    ...(runs.length === 0 ? [] : [RECOVERY_TEXT.workflowAdvice(command('workflow', 'status'), resume)]),
    RECOVERY_TEXT.doubt,
  ]
  return [
    RECOVERY_TEXT.intro(oneLine(root, NAME_LIMIT * 2)),
    ...lines,
    ...(rest > 0 ? [RECOVERY_TEXT.more(rest)] : []),
    advice.join(' '),
  ].join('\n')
}

function describe({ state, folder, marker, ageMs }: UnfinishedPostflight, session: string | undefined): string {
  const operation = marker.operation === undefined ? undefined : oneLine(marker.operation, NAME_LIMIT)
  const owner = ownerOf(marker.hostSession, session)
  const status = state === 'abandoned' && marker.outcome === UNCHECKED ? 'unchecked' : state
  return RECOVERY_TEXT.item(oneLine(taskWord(folder), TASK_LIMIT), operation, RECOVERY_TEXT[status], owner, ageMs)
}

function describeRun(run: UnfinishedWorkflow, rootOption: string | undefined, session: string | undefined): string {
  const task = taskWord(run.folder)
  const resume = commandLine(['workflow', 'resume', inLine(task)], rootOption)
  const status = isRunningIn(run, session) ? RECOVERY_TEXT.workflow.mine : RECOVERY_TEXT.workflow[run.status](resume)
  const owner = ownerOf(run.hostSession, session)
  return RECOVERY_TEXT.item(oneLine(task, TASK_LIMIT), oneLine(run.name, NAME_LIMIT), status, owner, run.ageMs)
}

function isRunningIn({ status, hostSession }: UnfinishedWorkflow, session: string | undefined): boolean {
  return status === 'running' && hostSession !== undefined && hostSession === session
}

function ownerOf(owner: string | undefined, session: string | undefined): string {
  if (owner === undefined) return RECOVERY_TEXT.unowned
  return owner === session ? RECOVERY_TEXT.mine : RECOVERY_TEXT.other
}
