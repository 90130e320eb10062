import { sleep } from '../../disk/age.ts'
import type { HostClient, PermissionRule } from '../../hosts/opencode/api.ts'
import * as api from '../../hosts/opencode/api.ts'
import { lastManner, type Manner } from '../../hosts/opencode/conversation.ts'
import { MAIN_AGENT } from '../../hosts/payload.ts'
import { quote } from '../../kernel/text.ts'
import { known } from '../../kernel/values.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import { currentPhase } from '../../run/machine/position.ts'
import type { DuePrompt, DueWork } from '../../run/machine/prompt.ts'
import { visitsOf, type WorkflowState } from '../../run/machine/state.ts'
import { readState } from '../../run/store/state-store.ts'
import type { SubAgentGuard } from '../guard/prompt-guards.ts'
import type { Agent, Sessions } from '../sessions.ts'

/** No person can answer a question there, and a run inside a run would not end. */
const PERMISSION: readonly PermissionRule[] = [
  { permission: 'question', pattern: '*', action: 'deny' },
  { permission: api.WORKFLOW_TOOL, pattern: '*', action: 'deny' },
]

/** OpenCode deletes the sessions below a conversation first (1.18.34). */
const DELETION_MS = 1_000

export type PhasePorts = Readonly<{ client: HostClient; sessions: Sessions; subAgents: SubAgentGuard }>

interface Caller extends Pick<Agent, 'session' | 'root'> {
  readonly manner: Manner
  readonly folder: TaskFolder
  /** Raised if the user interrupts or deletes the conversation. */
  readonly signal: AbortSignal
}

type Child = Pick<Caller, 'session' | 'manner'>

export class PhaseRunner {
  readonly #ports: PhasePorts
  readonly #caller: Caller
  readonly notes: string[] = []
  prompts = 0
  readonly #sessions = new Map<string, Promise<Child>>()
  #visit = ''

  constructor(ports: PhasePorts, caller: Caller) {
    this.#ports = ports
    this.#caller = caller
  }

  /** Returns the reason if the run must end. Calls `onAnswer` after every answer except the last. */
  async give(due: DuePrompt, state: WorkflowState, onAnswer: () => Promise<void>): Promise<string | undefined> {
    const { phase, batch = [due] } = due
    const visit = `${phase} ${visitsOf(state, phase)}`
    if (this.#visit !== visit) this.#sessions.clear()
    this.#visit = visit
    let unanswered = batch.length
    const answers = batch.map(async (work) => {
      const why = await this.#give(work, state).finally(() => {
        unanswered -= 1
      })
      if (unanswered > 0) await onAnswer()
      return why
    })
    // While other sessions work, the run must not look ended.
    await Promise.allSettled(answers)
    return (await Promise.all(answers)).find((why) => why !== undefined)
  }

  async #give(work: DueWork, state: WorkflowState): Promise<string | undefined> {
    const { signal } = this.#caller
    const why = await this.#prompt(work, state).catch(async (error: unknown) => {
      if (!api.isGone(error)) throw error
      await sleep(DELETION_MS, signal)
      return `the session of phase "${quote(state.phase, 80)}" was deleted in OpenCode`
    })
    return signal.aborted ? endOf(signal) : why
  }

  async #prompt(work: DueWork, state: WorkflowState): Promise<string | undefined> {
    const { subAgents, sessions } = this.#ports
    const { folder, root, signal } = this.#caller
    const { session, manner } = await this.#childFor(work, state)
    this.prompts += 1
    const answer = await sessions.prompt(session, work.prompt, manner, signal, () => isTakenOver(folder, root))
    if (signal.aborted || answer.kind === 'given-up') return undefined
    if (answer.kind === 'failed') return `the turn in OpenCode failed: ${quote(answer.why.replace(/\.$/, ''))}`
    const agent = await sessions.identify(session)
    if (agent.agent !== MAIN_AGENT) await subAgents.hold(agent, answer.text)
    return undefined
  }

  #childFor(work: DueWork, state: WorkflowState): Promise<Child> {
    const step = currentPhase(state).parallel === 1 ? 0 : (work.step ?? 0)
    const key = JSON.stringify([step, work.agent, work.model])
    const child = this.#sessions.get(key) ?? this.#createChild(work, state, step)
    this.#sessions.set(key, child)
    return child
  }

  async #createChild(work: DueWork, state: WorkflowState, step: number): Promise<Child> {
    const { client, sessions } = this.#ports
    const manner = await phaseManner(client, work, this.#caller.manner, this.notes)
    const visit = visitsOf(state, state.phase)
    const ofStep = step === 0 ? '' : `, step ${step}`
    const ofVisit = visit > 1 ? ` (visit ${visit})` : ''
    const title = `Workflow: ${state.phase}${ofStep}${ofVisit}`
    const body = { parentID: this.#caller.session, title, agent: manner.agent, permission: PERMISSION }
    const { id } = api.need(await client.session.create({ body }), 'session.create')
    sessions.of(id).isPhase = true
    return { session: id, manner }
  }
}

export const CONVERSATION_DELETED = 'the conversation was deleted in OpenCode'

/** OpenCode gives a reason of its own. */
export function endOf({ reason }: AbortSignal): string {
  return reason === CONVERSATION_DELETED ? reason : 'it was interrupted in OpenCode'
}

function isTakenOver(folder: TaskFolder, session: string): boolean {
  const state = readState(folder)
  return state === undefined || !state.active || state.hostSession !== session
}

/** Falls back to OpenCode's configuration. */
export async function callerManner(client: HostClient, session: string): Promise<Manner> {
  const manner = await lastManner(client, session)
  if (manner !== undefined) return manner
  const agents = await api.knownAgents(client)
  const agent = agents.find(({ mode, hidden }) => mode !== 'subagent' && hidden !== true)?.name ?? 'build'
  return known({ agent, model: api.parseModel((await client.config.get()).data?.model) })
}

/** OpenCode may lack the agent or model of a run from another host: then the phase gets the conversation's. */
async function phaseManner(client: HostClient, due: DueWork, caller: Manner, notes: string[]): Promise<Manner> {
  const agent =
    due.agent === undefined ? undefined : (await api.knownAgents(client)).find(({ name }) => name === due.agent)
  if (due.agent !== undefined && agent === undefined) notes.push(substituted('agent', due.agent))
  const named = due.model ?? (agent?.model === undefined ? undefined : api.modelName(agent.model))
  const own = await api.knownModel(client, named)
  if (named !== undefined && own === undefined) notes.push(substituted('model', named))
  return known({
    agent: agent?.name ?? caller.agent,
    model: own ?? caller.model,
    variant: own === undefined ? caller.variant : undefined,
  })
}

function substituted(what: 'agent' | 'model', name: string): string {
  return `OpenCode has no ${what} "${quote(name, 80)}": this conversation's ${what} was used instead.`
}
