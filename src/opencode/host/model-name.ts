import type { ModelName } from './api.ts'

/** OpenCode names models `provider/model`. */

/** The model of a name; undefined for a text that is not a model's name. */
export function parseModel(name: string | undefined): ModelName | undefined {
  const [, providerID, modelID] = /^([^/\s]+)\/(\S+)$/.exec(name ?? '') ?? []
  return providerID === undefined || modelID === undefined ? undefined : { providerID, modelID }
}

/** The name of a model. */
export function modelName({ providerID, modelID }: ModelName): string {
  return `${providerID}/${modelID}`
}
