import type { DueWork } from '../../core/workflow/prompt.ts'
import type { AgentInfo, HostClient, ModelName } from '../host/api.ts'
import { type Manner, readLastTurn } from '../host/conversation.ts'
import { HostRefusal, need } from '../host/refusal.ts'
import { WORKFLOW_TOOL_TEXT } from '../messages.ts'

/** Chooses agent and model of a phase: the definition's where OpenCode has them, otherwise the conversation's. */

/** The settings of a phase's turns, and a sentence for each agent or model that was replaced. */
export interface ChosenManner {
  readonly manner: Manner
  readonly substitutes: readonly string[]
}

/** The settings of a conversation's turns; OpenCode's configuration where the conversation has no message that can be read. */
export async function callerManner(client: HostClient, session: string): Promise<Manner> {
  const manner = await lastManner(client, session)
  if (manner !== undefined) return manner
  const agents = await knownAgents(client)
  const agent = agents.find(({ mode, hidden }) => mode !== 'subagent' && hidden !== true)?.name ?? 'build'
  const model = parseModel((await client.config.get()).data?.model)
  return { agent, ...(model !== undefined && { model }) }
}

async function lastManner(client: HostClient, session: string): Promise<Manner | undefined> {
  try {
    return (await readLastTurn(client, session)).manner
  } catch (error) {
    if (error instanceof HostRefusal && error.kind === 'unreadable') return undefined
    throw error
  }
}

/**
 * The settings of a phase's turns. A run that began on another host may name an agent or a model that OpenCode does not
 * have; then the conversation's own is used, and `substitutes` says so.
 */
export async function phaseManner(client: HostClient, due: DueWork, caller: Manner): Promise<ChosenManner> {
  const substitutes: string[] = []
  const agent = due.agent === undefined ? undefined : (await knownAgents(client)).find(({ name }) => name === due.agent)
  if (due.agent !== undefined && agent === undefined) {
    substitutes.push(WORKFLOW_TOOL_TEXT.substitute('agent', due.agent))
  }
  const named = due.model ?? (agent?.model === undefined ? undefined : nameOf(agent.model))
  const own = await knownModel(client, named)
  if (named !== undefined && own === undefined) substitutes.push(WORKFLOW_TOOL_TEXT.substitute('model', named))
  const { model, variant } = caller
  return {
    manner: {
      agent: agent?.name ?? caller.agent,
      ...(own === undefined
        ? { ...(model !== undefined && { model }), ...(variant !== undefined && { variant }) }
        : { model: own }),
    },
    substitutes,
  }
}

/** The model of that name if OpenCode can use it: one that it does not have would leave the phase without an answer. */
async function knownModel(client: HostClient, name: string | undefined): Promise<ModelName | undefined> {
  const model = parseModel(name)
  if (model === undefined) return undefined
  const { providers } = need(await client.config.providers(), 'config.providers')
  const provider = providers.find(({ id }) => id === model.providerID)
  return provider !== undefined && Object.hasOwn(provider.models, model.modelID) ? model : undefined
}

async function knownAgents(client: HostClient): Promise<AgentInfo[]> {
  return need(await client.app.agents(), 'app.agents')
}

/** OpenCode names models `provider/model`. */
function parseModel(name: string | undefined): ModelName | undefined {
  const [, providerID, modelID] = /^([^/\s]+)\/(\S+)$/.exec(name ?? '') ?? []
  return providerID === undefined || modelID === undefined ? undefined : { providerID, modelID }
}

function nameOf({ providerID, modelID }: ModelName): string {
  return `${providerID}/${modelID}`
}
