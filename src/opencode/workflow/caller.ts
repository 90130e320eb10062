import type { DuePrompt } from '../../core/workflow/prompt.ts'
import type { AgentInfo, HostClient, ModelName } from '../host/api.ts'
import { type Manner, need, readLastTurn } from '../host/conversation.ts'
import { WORKFLOW_TOOL_TEXT } from '../messages.ts'

/** Chooses agent and model of a phase: the definition's where OpenCode has them, otherwise the conversation's. */

/** The settings of a phase's turns, and a sentence for each agent or model that was replaced. */
export interface ChosenManner {
  readonly manner: Manner
  readonly substitutes: readonly string[]
}

/** The settings of a conversation's turns; OpenCode's configuration where the conversation has no message yet. */
export async function callerManner(client: HostClient, session: string): Promise<Manner> {
  const { manner } = await readLastTurn(client, session)
  if (manner !== undefined) return manner
  const agents = await knownAgents(client)
  const agent = agents.find(({ mode, hidden }) => mode !== 'subagent' && hidden !== true)?.name ?? 'build'
  const model = parseModel((await client.config.get()).data?.model)
  return { agent, ...(model !== undefined && { model }) }
}

/**
 * The settings of a phase's turns. A run that began on another host may name an agent or a model that OpenCode does not
 * have; then the conversation's own is used, and `substitutes` says so.
 */
export async function phaseManner(client: HostClient, due: DuePrompt, caller: Manner): Promise<ChosenManner> {
  const substitutes: string[] = []
  const agent = due.agent === undefined ? undefined : (await knownAgents(client)).find(({ name }) => name === due.agent)
  if (due.agent !== undefined && agent === undefined) {
    substitutes.push(WORKFLOW_TOOL_TEXT.substitute('agent', due.agent))
  }
  const model = parseModel(due.model)
  if (due.model !== undefined && model === undefined) {
    substitutes.push(WORKFLOW_TOOL_TEXT.substitute('model', due.model))
  }
  const own = model ?? agent?.model
  return {
    manner: {
      agent: agent?.name ?? caller.agent,
      ...(own === undefined
        ? {
            ...(caller.model !== undefined && { model: caller.model }),
            ...(caller.variant !== undefined && { variant: caller.variant }),
          }
        : { model: { providerID: own.providerID, modelID: own.modelID } }),
    },
    substitutes,
  }
}

async function knownAgents(client: HostClient): Promise<AgentInfo[]> {
  return need(await client.app.agents(), 'app.agents')
}

/** OpenCode names models `provider/model`. */
function parseModel(name: string | undefined): ModelName | undefined {
  const [, providerID, modelID] = /^([^/\s]+)\/(\S+)$/.exec(name ?? '') ?? []
  return providerID === undefined || modelID === undefined ? undefined : { providerID, modelID }
}
