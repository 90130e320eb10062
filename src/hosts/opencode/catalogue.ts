import { type AgentInfo, type HostClient, type ModelName, need } from './api.ts'

export async function knownAgents(client: HostClient): Promise<AgentInfo[]> {
  return need(await client.app.agents(), 'app.agents')
}

/** OpenCode would not answer a prompt with an unknown model. */
export async function knownModel(client: HostClient, name: string | undefined): Promise<ModelName | undefined> {
  const model = parseModel(name)
  if (model === undefined) return undefined
  const { providers } = need(await client.config.providers(), 'config.providers')
  const provider = providers.find(({ id }) => id === model.providerID)
  return provider !== undefined && Object.hasOwn(provider.models, model.modelID) ? model : undefined
}

/** OpenCode writes `provider/model`. */
export function parseModel(name: string | undefined): ModelName | undefined {
  const [, providerID, modelID] = /^([^/\s]+)\/(\S+)$/.exec(name ?? '') ?? []
  return providerID === undefined || modelID === undefined ? undefined : { providerID, modelID }
}

export function modelName({ providerID, modelID }: ModelName): string {
  return `${providerID}/${modelID}`
}

export const WORKFLOW_TOOL = 'workflow_run'

export const WORKFLOW_COMMAND = 'postflight-workflow'
