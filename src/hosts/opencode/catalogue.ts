import type { AgentInfo, HostClient, ModelName } from './api.ts'
import { need } from './refusal.ts'

/** The agents and models that OpenCode has. */

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

/** The name of a model. */
export function modelName({ providerID, modelID }: ModelName): string {
  return `${providerID}/${modelID}`
}
