import type { DuePrompt } from '../../core/workflow/prompt.ts'
import type { AgentInfo, HostClient, ModelName } from '../host/api.ts'
import { type Manner, need, readLastTurn } from '../host/conversation.ts'
import { WORKFLOW_TOOL_TEXT } from '../messages.ts'

/** Who works on a phase: what the definition asks for where OpenCode knows it, else what the conversation uses. */

/** A manner, and what had to be replaced to get it. */
export interface ChosenManner {
  readonly manner: Manner
  readonly substitutes: readonly string[]
}

/** How a conversation's turns are run. One that has no message yet is run as OpenCode is configured. */
export async function callerManner(client: HostClient, session: string): Promise<Manner> {
  const { manner } = await readLastTurn(client, session)
  if (manner !== undefined) return manner
  const agents = await knownAgents(client)
  const agent = agents.find(({ mode, hidden }) => mode !== 'subagent' && hidden !== true)?.name ?? 'build'
  const model = parseModel((await client.config.get()).data?.model)
  return { agent, ...(model !== undefined && { model }) }
}

/**
 * The manner of a phase. A run that was begun on another host may name an agent or a model that OpenCode does not know:
 * then the conversation's own is used, and that is said.
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
