import { type AgentInfo, type HostClient, type ModelName, need } from './api.ts'

/** What OpenCode knows: its agents and models, and our tool and command. */

/** Every agent. @throws {HostRefusal} when OpenCode does not answer. */
export async function knownAgents(client: HostClient): Promise<AgentInfo[]> {
  return need(await client.app.agents(), 'app.agents')
}

/**
 * The model of that name if OpenCode can use it: a prompt with another one would not be answered.
 * @throws {HostRefusal} when OpenCode does not answer.
 */
export async function knownModel(client: HostClient, name: string | undefined): Promise<ModelName | undefined> {
  const model = parseModel(name)
  if (model === undefined) return undefined
  const { providers } = need(await client.config.providers(), 'config.providers')
  const provider = providers.find(({ id }) => id === model.providerID)
  return provider !== undefined && Object.hasOwn(provider.models, model.modelID) ? model : undefined
}

/** The parts of a model's name, which OpenCode writes `provider/model`; undefined for another text. */
export function parseModel(name: string | undefined): ModelName | undefined {
  const [, providerID, modelID] = /^([^/\s]+)\/(\S+)$/.exec(name ?? '') ?? []
  return providerID === undefined || modelID === undefined ? undefined : { providerID, modelID }
}

export function modelName({ providerID, modelID }: ModelName): string {
  return `${providerID}/${modelID}`
}

/** The tool that runs a workflow. */
export const WORKFLOW_TOOL = 'workflow_run'

/** The command that does the same for people, without the slash. */
export const WORKFLOW_COMMAND = 'postflight-workflow'
