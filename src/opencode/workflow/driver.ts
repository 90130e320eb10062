import path from 'node:path'
import { PostflightError } from '../../core/errors.ts'
import { MAIN_AGENT } from '../../core/marker.ts'
import { errorMessage } from '../../core/messages/errors.ts'
import { parseTaskReference, type TaskFolder, taskNumberOf } from '../../core/task-folder.ts'
import type { DuePrompt } from '../../core/workflow/prompt.ts'
import { visitsOf, type WorkflowState } from '../../core/workflow/state.ts'
import { findTaskFolder, taskFolderAt } from '../../io/find-task-folder.ts'
import { makeOwnFolder } from '../../io/fs/own-folder.ts'
import { appendRecorded } from '../../io/journal.ts'
import { interruptRun, startRun } from '../../io/workflow/run.ts'
import { requireState } from '../../io/workflow/state-store.ts'
import type { SubAgentGuard } from '../guard/sub-agent.ts'
import type { HostClient, PermissionRule } from '../host/api.ts'
import { createChild, type Manner } from '../host/conversation.ts'
import type { Turns } from '../host/turns.ts'
import { OPENCODE_TEXT, WORKFLOW_TOOL_TEXT } from '../messages.ts'
import type { Reporter } from '../safe-hook.ts'
import type { Sessions } from '../sessions.ts'
import { callerManner, phaseManner } from './caller.ts'
import { isLost, nextTurn, takeUp, turnEntry } from './turn.ts'

/**
 * Drives workflows on OpenCode (docs/design.md, "Workflows"): each phase in a child session of its own, prompted as long
 * as the machine asks. All of this happens inside one call of a tool or a command, for which OpenCode waits.
 */

/** The permissions of a phase's session: no person is there to answer a question, and a run inside a run would not end. */
const PERMISSION: readonly PermissionRule[] = [
  { permission: 'question', pattern: '*', action: 'deny' },
  { permission: 'workflow_run', pattern: '*', action: 'deny' },
]

/** A request to run a workflow. */
export interface RunRequest {
  /** A task's number, or its folder's name. */
  readonly task: string
  /** The path of a definition to start a new run with; an empty string to continue the existing run. */
  readonly definition: string
}

/** The parts that a driver uses. */
export interface DriverPorts {
  readonly client: HostClient
  readonly sessions: Sessions
  readonly turns: Turns
  readonly subAgents: SubAgentGuard
  readonly reporter: Reporter
  /** The project's folder; a definition's path is relative to it. */
  readonly folder: string
  readonly findRoot: () => string | undefined
  /** The task folders whose run is being driven; the driver fills this set. */
  readonly driven: Set<string>
}

/** The session of a phase. */
interface Child {
  readonly session: string
  readonly phase: string
  readonly visit: number
  readonly manner: Manner
}

/** Runs workflows. */
export class WorkflowDriver {
  readonly #ports: DriverPorts
  /** Sessions of phases. */
  readonly #children = new Set<string>()

  constructor(ports: DriverPorts) {
    this.#ports = ports
  }

  /**
   * Runs a workflow until it ends or `signal` is raised. Returns the result in words. An error is returned in words too:
   * thrown, it would be shown to the agent as an internal error of the tool.
   */
  async run(session: string, request: RunRequest, signal: AbortSignal | undefined): Promise<string> {
    try {
      return await this.#run(session, request, signal)
    } catch (error) {
      if (error instanceof PostflightError) return errorMessage(error.code, error.args)
      this.#ports.reporter.fault('workflow driver', error)
      return OPENCODE_TEXT.fault('workflow driver', (error as Error).message)
    }
  }

  async #run(session: string, request: RunRequest, signal: AbortSignal | undefined): Promise<string> {
    const caller = await this.#ports.sessions.identify(session)
    if (this.#isOwn(session)) return WORKFLOW_TOOL_TEXT.ownChild
    const folder = this.#locate(request)
    if (this.#ports.driven.has(folder.path)) return WORKFLOW_TOOL_TEXT.drivenHere(folder.task)
    this.#ports.driven.add(folder.path)
    try {
      if (request.definition !== '') await this.#start(folder, request.definition, caller.root)
      takeUp(folder, caller.root)
      return await this.#drive(folder, { session, root: caller.root }, signal)
    } finally {
      this.#ports.driven.delete(folder.path)
    }
  }

  #isOwn(session: string): boolean {
    return [...this.#children].some((child) => child === session || this.#ports.sessions.isBelow(session, child))
  }

  #locate({ task, definition }: RunRequest): TaskFolder {
    const root = this.#ports.findRoot()
    if (root === undefined) throw new PostflightError('root-none', { start: this.#ports.folder })
    const found = findTaskFolder(root, task)
    if (found !== undefined) return found
    const reference = parseTaskReference(task)
    if (definition === '' || reference.kind !== 'name' || taskNumberOf(reference.name) === undefined) {
      throw new PostflightError('task-unknown', { task, specs: path.join(root, 'specs'), wanted: 'workflow' })
    }
    const made = taskFolderAt(root, reference.name)
    makeOwnFolder(made.path)
    return made
  }

  async #start(folder: TaskFolder, definition: string, root: string): Promise<void> {
    // Loaded only to start a run, because the parsers are large.
    const { requireDefinition } = await import('../../io/workflow/load-definition.ts')
    const ready = requireDefinition(path.resolve(this.#ports.folder, definition), definition)
    const runner = { hostSession: root, parentSession: root }
    startRun(folder, ready, runner, { nowMs: Date.now(), fresh: false })
  }

  async #drive(
    folder: TaskFolder,
    caller: { readonly session: string; readonly root: string },
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const manner = await callerManner(this.#ports.client, caller.session)
    const notes: string[] = []
    let child: Child | undefined
    let given = 0
    let returned = false
    for (;;) {
      const turn = nextTurn(folder, caller.root, returned)
      if (turn === undefined) return OPENCODE_TEXT.takenOver(folder.task)
      const entry = turnEntry(folder, caller.root, turn)
      if (entry !== undefined) appendRecorded([{ root: folder.root, entry }], Date.now())
      if (turn.command === 'finish') return this.#summary(folder, turn.state, given, notes)
      returned = true
      // A prompt is out already, and its session is not waited for: the next turn counts it as returned.
      if (turn.due === undefined) continue
      child = await this.#childFor(turn.due, turn.state, child, { caller: caller.session, manner, notes })
      given += 1
      const why = await this.#prompt(folder, caller.root, child, turn.due, signal)
      if (why === undefined) continue
      const state = interruptRun(folder, caller.root, why, Date.now())
      return this.#summary(folder, state, given, notes)
    }
  }

  /** The session of the prompt's phase; a new one when the phase was just entered. */
  async #childFor(
    due: DuePrompt,
    state: WorkflowState,
    present: Child | undefined,
    { caller, manner, notes }: { caller: string; manner: Manner; notes: string[] },
  ): Promise<Child> {
    const visit = visitsOf(state, due.phase)
    if (present?.phase === due.phase && present.visit === visit) return present
    const { client } = this.#ports
    const chosen = await phaseManner(client, due, manner)
    notes.push(...chosen.substitutes)
    const session = await createChild(client, {
      parent: caller,
      title: WORKFLOW_TOOL_TEXT.title(due.phase, visit),
      agent: chosen.manner.agent,
      permission: PERMISSION,
    })
    this.#children.add(session)
    return { session, phase: due.phase, visit, manner: chosen.manner }
  }

  /** Prompts a phase's session and holds it for its own markers. Returns the reason why the run must end here, if it must. */
  async #prompt(
    folder: TaskFolder,
    root: string,
    child: Child,
    due: DuePrompt,
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    const { turns, subAgents, sessions } = this.#ports
    const wake = (): void => turns.noteIdle(child.session)
    const isInterrupted = (): boolean => signal?.aborted === true
    signal?.addEventListener('abort', wake)
    try {
      const givesUp = (): boolean => isInterrupted() || isLost(folder, root)
      const answer = await turns.prompt(child.session, due.prompt, child.manner, givesUp)
      if (isInterrupted()) return OPENCODE_TEXT.interrupted
      if (answer.kind === 'given-up') return undefined
      if (answer.kind === 'failed') return OPENCODE_TEXT.turnFailed(answer.why)
      const agent = await sessions.identify(child.session)
      if (agent.agent !== MAIN_AGENT) await subAgents.hold(agent, answer.text)
      return isInterrupted() ? OPENCODE_TEXT.interrupted : undefined
    } finally {
      signal?.removeEventListener('abort', wake)
    }
  }

  #summary(folder: TaskFolder, state: WorkflowState, given: number, notes: readonly string[]): string {
    return [
      WORKFLOW_TOOL_TEXT.ended(folder.task, state.outcome ?? requireState(folder).phase, state.why),
      WORKFLOW_TOOL_TEXT.prompts(given),
      ...new Set(notes),
    ].join('\n')
  }
}
