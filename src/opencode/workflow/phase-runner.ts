import { MAIN_AGENT } from '../../core/marker.ts'
import type { TaskFolder } from '../../core/task-folder.ts'
import type { DuePrompt } from '../../core/workflow/prompt.ts'
import { visitsOf, type WorkflowState } from '../../core/workflow/state.ts'
import type { SubAgentGuard } from '../guard/sub-agent.ts'
import type { HostClient, PermissionRule } from '../host/api.ts'
import { createChild, type Manner } from '../host/conversation.ts'
import { isGone, need } from '../host/refusal.ts'
import type { Turns } from '../host/turns.ts'
import { OPENCODE_TEXT, WORKFLOW_TOOL_TEXT } from '../messages.ts'
import type { Sessions } from '../sessions.ts'
import { phaseManner } from './caller.ts'
import { isLost } from './turn.ts'

/** Gives out the prompts of one run, each phase in a child session of its own. */

/** The permissions of a phase's session: no person is there to answer a question, and a run inside a run would not end. */
const PERMISSION: readonly PermissionRule[] = [
  { permission: 'question', pattern: '*', action: 'deny' },
  { permission: 'workflow_run', pattern: '*', action: 'deny' },
]

/** The time (ms) after which a conversation is looked for again: OpenCode deletes the sessions below it first. */
const LOOK_AGAIN_MS = 100

/** The parts that a phase runner uses. */
export interface PhasePorts {
  readonly client: HostClient
  readonly sessions: Sessions
  readonly turns: Turns
  readonly subAgents: SubAgentGuard
}

/** The conversation that runs the workflow. */
interface Caller {
  readonly session: string
  readonly root: string
  readonly manner: Manner
  readonly folder: TaskFolder
  /** Raised when the user interrupts the conversation. */
  readonly signal: AbortSignal | undefined
}

/** The session of a phase. */
interface Child {
  readonly session: string
  readonly phase: string
  readonly visit: number
  readonly manner: Manner
}

/** Gives out prompts. */
export class PhaseRunner {
  readonly #ports: PhasePorts
  readonly #caller: Caller
  readonly #children: Set<string>
  readonly #notes: string[] = []
  #child: Child | undefined
  #given = 0
  #isConversationGone = false

  /** `children`: gets the ids of the sessions that are created. */
  constructor(ports: PhasePorts, caller: Caller, children: Set<string>) {
    this.#ports = ports
    this.#caller = caller
    this.#children = children
  }

  /** The number of prompts so far. */
  get given(): number {
    return this.#given
  }

  /** A sentence for each agent or model that was replaced. */
  get notes(): readonly string[] {
    return this.#notes
  }

  /** True once the conversation was found deleted. */
  get isConversationGone(): boolean {
    return this.#isConversationGone
  }

  /** Gives out a prompt and waits for the answer. Returns the reason why the run must end here, if it must. */
  async give(due: DuePrompt, state: WorkflowState): Promise<string | undefined> {
    try {
      const why = await this.#prompt(due, state)
      if (why === undefined || !(await this.#wasConversationDeleted())) return why
    } catch (error) {
      if (!isGone(error)) throw error
      if (!(await this.#wasConversationDeleted())) return OPENCODE_TEXT.phaseDeleted(due.phase)
    }
    this.#isConversationGone = true
    return OPENCODE_TEXT.conversationDeleted
  }

  async #prompt(due: DuePrompt, state: WorkflowState): Promise<string | undefined> {
    const { turns, subAgents, sessions } = this.#ports
    const { folder, root, signal } = this.#caller
    const { session, manner } = await this.#childFor(due, state)
    this.#given += 1
    const wake = (): void => turns.noteIdle(session)
    const isInterrupted = (): boolean => signal?.aborted === true
    signal?.addEventListener('abort', wake)
    try {
      const givesUp = (): boolean => isInterrupted() || isLost(folder, root)
      const answer = await turns.prompt(session, due.prompt, manner, givesUp)
      if (isInterrupted()) return OPENCODE_TEXT.interrupted
      if (answer.kind === 'given-up') return undefined
      if (answer.kind === 'failed') return OPENCODE_TEXT.turnFailed(answer.why)
      const agent = await sessions.identify(session)
      if (agent.agent !== MAIN_AGENT) await subAgents.hold(agent, answer.text)
      return isInterrupted() ? OPENCODE_TEXT.interrupted : undefined
    } finally {
      signal?.removeEventListener('abort', wake)
    }
  }

  /** The session of the prompt's phase; a new one when the phase was just entered. */
  async #childFor(due: DuePrompt, state: WorkflowState): Promise<Child> {
    const visit = visitsOf(state, due.phase)
    if (this.#child?.phase === due.phase && this.#child.visit === visit) return this.#child
    const { client } = this.#ports
    const chosen = await phaseManner(client, due, this.#caller.manner)
    this.#notes.push(...chosen.substitutes)
    const session = await createChild(client, {
      parent: this.#caller.session,
      title: WORKFLOW_TOOL_TEXT.title(due.phase, visit),
      agent: chosen.manner.agent,
      permission: PERMISSION,
    })
    this.#children.add(session)
    this.#child = { session, phase: due.phase, visit, manner: chosen.manner }
    return this.#child
  }

  /** True if the conversation was deleted. */
  async #wasConversationDeleted(): Promise<boolean> {
    const { client } = this.#ports
    for (const pauseMs of [0, LOOK_AGAIN_MS]) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      try {
        need(await client.session.get({ path: { id: this.#caller.session } }), 'session.get')
      } catch (error) {
        if (isGone(error)) return true
        throw error
      }
    }
    return false
  }
}
