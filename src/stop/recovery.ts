import { commandLine } from '../kernel/command-line.ts'
import { inLine, oneLine } from '../kernel/text.ts'
import { type Marker, UNCHECKED } from '../marker/marker.ts'
import { MAX_NAME_LENGTH } from '../project/task-folder.ts'
import { RECOVERY_TEXT } from './stop-messages.ts'

/** Leaves out the markers' own reasons: they may come from a cloned repository. */

const MAX_LISTED = 10
/** In characters; the answer has 4,000. */
const LIST_LIMIT = 3_000
const NAME_LIMIT = 80
/** A folder in a folder. A task is listed as a whole, because commands need its name. */
const TASK_LIMIT = 2 * MAX_NAME_LENGTH + 1

interface Placed {
  readonly task: string
  readonly root: string
  readonly rootOption?: string | undefined
  readonly ageMs: number
}

export interface UnfinishedPostflight extends Placed {
  readonly state: 'pending' | 'abandoned'
  readonly marker: Marker
  readonly isDone?: boolean
}

/** `approval`: by a person. `lost`: active, but without a run file, so no hook finds it. */
export type UnfinishedStatus = 'running' | 'approval' | 'lost' | 'stalled'

export interface UnfinishedWorkflow extends Placed {
  readonly name: string
  readonly hostSession: string | undefined
  readonly status: UnfinishedStatus
}

export function composeRecovery(
  postflights: readonly UnfinishedPostflight[],
  session: string | undefined,
  runs: readonly UnfinishedWorkflow[] = [],
): string | undefined {
  const roots = [...new Set([...postflights, ...runs].map((item) => item.root))]
  const parts = roots.map((root) =>
    composeForRoot(
      postflights.filter((item) => item.root === root),
      runs.filter((item) => item.root === root),
      session,
    ),
  )
  return parts.length === 0 ? undefined : parts.join('\n\n')
}

function composeForRoot(
  postflights: readonly UnfinishedPostflight[],
  runs: readonly UnfinishedWorkflow[],
  session: string | undefined,
): string {
  // Each root has at least one item.
  const [{ root, rootOption }] = [...postflights, ...runs] as readonly Placed[] as readonly [Placed]
  const all = [...runs.map((item) => describeRun(item, session)), ...postflights.map((item) => describe(item, session))]
  let room = LIST_LIMIT
  const lines = all.slice(0, MAX_LISTED).filter((line) => {
    room -= line.length
    return room >= 0
  })
  const rest = all.length - lines.length
  const command = (...words: string[]): string => `${commandLine(words, rootOption)} <task>`
  const clear = command('clear')
  const definitions = postflights.filter(({ isDone }) => isDone)
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

function describe({ state, task, marker, ageMs }: UnfinishedPostflight, session: string | undefined): string {
  const operation = marker.operation === undefined ? undefined : oneLine(marker.operation, NAME_LIMIT)
  const owner = ownerOf(marker.hostSession, session)
  const status = state === 'abandoned' && marker.outcome === UNCHECKED ? 'unchecked' : state
  return RECOVERY_TEXT.item(oneLine(task, TASK_LIMIT), operation, RECOVERY_TEXT[status], owner, ageMs)
}

function describeRun(run: UnfinishedWorkflow, session: string | undefined): string {
  const resume = commandLine(['workflow', 'resume', inLine(run.task)], run.rootOption)
  const status = isRunningIn(run, session) ? RECOVERY_TEXT.workflow.mine : RECOVERY_TEXT.workflow[run.status](resume)
  const owner = ownerOf(run.hostSession, session)
  return RECOVERY_TEXT.item(oneLine(run.task, TASK_LIMIT), oneLine(run.name, NAME_LIMIT), status, owner, run.ageMs)
}

function isRunningIn({ status, hostSession }: UnfinishedWorkflow, session: string | undefined): boolean {
  return status === 'running' && hostSession !== undefined && hostSession === session
}

function ownerOf(owner: string | undefined, session: string | undefined): string {
  if (owner === undefined) return RECOVERY_TEXT.unowned
  return owner === session ? RECOVERY_TEXT.mine : RECOVERY_TEXT.other
}
