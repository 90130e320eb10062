import { sleep } from '../../disk/age.ts'
import type { HostClient } from '../../hosts/opencode/api.ts'
import * as api from '../../hosts/opencode/api.ts'
import { lastManner, type Manner } from '../../hosts/opencode/conversation.ts'
import { MAIN_AGENT } from '../../hosts/payload.ts'
import { quote } from '../../kernel/text.ts'
import { known } from '../../kernel/values.ts'
import { currentPhase } from '../../run/machine/position.ts'
import type { DuePrompt, DueWork } from '../../run/machine/prompt.ts'
import { visitsOf, type WorkflowState } from '../../run/machine/state.ts'
import type { SubAgentGuard } from '../guard/prompt-guards.ts'
import { type Agent, CONVERSATION_DELETED, type Sessions } from '../sessions.ts'

/** No person can answer a question there, and a run inside a run would not end. */
const DENIED = ['question', api.WORKFLOW_TOOL]

/** OpenCode deletes the sessions below a conversation first (1.18.34). */
const DELETION_MS = 1_000

export type PhasePorts = Readonly<{ client: HostClient; sessions: Sessions; subAgents: SubAgentGuard }>

interface Caller extends Pick<Agent, 'session'> {
  readonly manner: Manner
  /** Raised if the user interrupts or deletes the conversation. */
  readonly signal: AbortSignal
  /** Also raised if the run has ended, or another session drives it. */
  readonly unwanted: AbortSignal
}

type Child = Pick<Caller, 'session' | 'manner'>

/** Gives the prompts of one call to sessions of its own. */
export function createPhases({ client, sessions, subAgents }: PhasePorts, caller: Caller) {
  const { signal } = caller
  const notes: string[] = []
  const children = new Map<string, Promise<Child>>()
  let prompts = 0

  /** Returns the reason if the run must end. Calls `onAnswer` after every answer except the last. */
  async function give(due: DuePrompt, state: WorkflowState, onAnswer: () => Promise<void>) {
    const { batch = [due] } = due
    let unanswered = batch.length
    const answers = batch.map(async (work) => {
      const why = await giveWork(work, state).finally(() => {
        unanswered -= 1
      })
      if (unanswered > 0) await onAnswer()
      return why
    })
    // While other sessions work, the run must not look ended.
    await Promise.allSettled(answers)
    return (await Promise.all(answers)).find((why) => why !== undefined)
  }

  async function giveWork(work: DueWork, state: WorkflowState): Promise<string | undefined> {
    const why = await prompt(work, state).catch(async (error: unknown) => {
      if (!api.isGone(error)) throw error
      await sleep(DELETION_MS, signal)
      return `the session of phase "${quote(state.phase, 80)}" was deleted in OpenCode`
    })
    return signal.aborted ? endOf(signal) : why
  }

  async function prompt(work: DueWork, state: WorkflowState): Promise<string | undefined> {
    const { session, manner } = await childFor(work, state)
    prompts += 1
    const answer = await sessions.prompt(session, work.prompt, manner, caller.unwanted)
    if (signal.aborted || answer.kind === 'given-up') return undefined
    if (answer.kind === 'failed') return `the turn in OpenCode failed: ${quote(answer.why.replace(/\.$/, ''))}`
    const agent = await sessions.identify(session)
    if (agent.agent !== MAIN_AGENT) await subAgents.hold(agent, answer.text, caller.unwanted)
    return undefined
  }

  function childFor(work: DueWork, state: WorkflowState): Promise<Child> {
    const { phase } = state
    const visit = visitsOf(state, phase)
    const step = currentPhase(state).parallel === 1 ? 0 : (work.step ?? 0)
    const key = JSON.stringify([phase, visit, step, work.agent, work.model])
    const ofStep = step === 0 ? '' : `, step ${step}`
    const ofVisit = visit > 1 ? ` (visit ${visit})` : ''
    const child = children.get(key) ?? createChild(work, `Workflow: ${phase}${ofStep}${ofVisit}`)
    children.set(key, child)
    return child
  }

  async function createChild(work: DueWork, title: string): Promise<Child> {
    const manner = await phaseManner(client, work, caller.manner, notes)
    const permission = await api.childPermission(client, caller.session, DENIED)
    const body = { parentID: caller.session, title, agent: manner.agent, permission }
    const { id } = api.need(await client.session.create({ body }), 'session.create')
    sessions.of(id).isPhase = true
    return { session: id, manner }
  }

  return { give, notes, countPrompts: () => prompts }
}

export type Phases = ReturnType<typeof createPhases>

/** OpenCode gives a reason of its own. */
export function endOf({ reason }: AbortSignal): string {
  return reason === CONVERSATION_DELETED ? reason : 'it was interrupted in OpenCode'
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
