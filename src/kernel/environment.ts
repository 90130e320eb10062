export type Environment = Readonly<Record<string, string | undefined>>

export function variable(environment: Environment, name: string): string | undefined {
  return environment[name] || undefined
}
