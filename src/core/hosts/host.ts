import type { Payload } from '../payload.ts'

/** Environment variables, as data. */
export type Environment = Readonly<Record<string, string | undefined>>

/** What a host tells a command that its shell tool runs: who am I? */
export interface ShellIdentity {
  readonly session: string
  /** Absent where the host does not tell: then the owner is learnt from `PostToolUse`. */
  readonly agent?: string
}

/** Why a stop is not judged: the host ignores the answer, or it is an agent of the host's own that stops. */
export interface Exemption {
  readonly host: string
  readonly why: 'answer-ignored' | 'own-agent'
}

/** In what one host differs. Everything else is common ground. */
export interface HostDifference {
  /** Variables that may name the project's folder, in the hook's environment. */
  readonly projectVariables?: readonly string[]
  /** Session and agent in the shell tool's environment. */
  readonly shellIdentity?: (environment: Environment) => ShellIdentity | undefined
  /** Why this stop is not to be judged; undefined for one that is. */
  readonly exempts?: (payload: Payload, environment: Environment) => Exemption | undefined
  /** True for a payload or a hook's environment that only this host gives: others imitate Claude Code's. */
  readonly recognizes?: (payload: Payload, environment: Environment) => boolean
  /** True where an allow may carry a `systemMessage`. */
  readonly showsNotice?: (payload: Payload, environment: Environment) => boolean
}

/** A variable's value, or undefined when it is unset or empty. */
export function variable(environment: Environment, name: string): string | undefined {
  return environment[name] || undefined
}
