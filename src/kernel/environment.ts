/** Environment variables, as data. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The value of a variable; undefined if it is unset or empty. */
export function variable(environment: Environment, name: string): string | undefined {
  return environment[name] || undefined
}
