import type { HostClient } from '../../hosts/opencode/api.ts'
import { knownAgents, knownModel, modelName, parseModel } from '../../hosts/opencode/catalogue.ts'
import { lastManner, type Manner } from '../../hosts/opencode/conversation.ts'
import { WORKFLOW_TOOL_TEXT } from '../../hosts/opencode/opencode-messages.ts'
import type { DueWork } from '../../run/machine/prompt.ts'

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

/**
 * The settings of a phase's turns. A run that began on another host may name an agent or a model that OpenCode does not
 * have; then the conversation's own is used, and `substitutes` reports it.
 */
export async function phaseManner(client: HostClient, due: DueWork, caller: Manner): Promise<ChosenManner> {
  const substitutes: string[] = []
  const agent = due.agent === undefined ? undefined : (await knownAgents(client)).find(({ name }) => name === due.agent)
  if (due.agent !== undefined && agent === undefined) {
    substitutes.push(WORKFLOW_TOOL_TEXT.substitute('agent', due.agent))
  }
  const named = due.model ?? (agent?.model === undefined ? undefined : modelName(agent.model))
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
