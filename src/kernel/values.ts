export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function attempt<T, Otherwise = undefined>(action: () => T, otherwise?: Otherwise): T | Otherwise {
  try {
    return action()
  } catch {
    return otherwise as Otherwise
  }
}

export function succeeds(action: () => unknown): boolean {
  return attempt(() => {
    action()
    return true
  }, false)
}

/** Continues after a failure. */
export function forEveryOne<T, R>(items: readonly T[], failures: unknown[], action: (item: T) => R | R[]): R[] {
  return items.flatMap((item) => {
    try {
      return action(item)
    } catch (error) {
      failures.push(error)
      return []
    }
  })
}

/** Editors on Windows write a byte order mark. */
export function parseJson(text: string): { readonly value: unknown } | { readonly fault: string } {
  try {
    return { value: JSON.parse(text.replace(/^\ufeff/, '')) }
  } catch (error) {
    return { fault: (error as Error).message }
  }
}

export function withoutComments(json: string): string {
  return json.replace(/("[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|$))|\/\/[^\r\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, '$1')
}

/** Empty if the text is not a JSON object. */
export function jsonObjectIn(text: string): Record<string, unknown> {
  const json = parseJson(text)
  return 'value' in json && isJsonObject(json.value) ? json.value : {}
}

type Known<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

export function known<T extends object>(fields: T): Known<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}

export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((held, key) => (held as Record<PropertyKey, unknown> | undefined)?.[key], value)
}

export type Environment = Readonly<Record<string, string | undefined>>

export function variable(environment: Environment, name: string): string | undefined {
  return environment[name] || undefined
}

export const MAX_INPUT_LENGTH = 5000
export const MAX_CHECKS = 20
export const WAIT_LIMIT = 10
