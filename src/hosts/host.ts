import { type Environment, variable } from '../kernel/values.ts'
import type { Payload, PayloadFields } from './payload.ts'

export interface ShellIdentity {
  readonly session: string
  readonly agent?: string
  readonly tellsDuration?: true
  /** Whether the shell's own stdout is a pipe. */
  readonly isPiped?: true
  /** If a sub-agent is the main agent of a session of its own. */
  readonly isSubagent?: true
}

export type Exemption = Readonly<{ host: string; why: 'answer-ignored' | 'own-agent' | 'cut-off' }>

export type ReadEnd = (path: string) => string

type PayloadTest = (payload: Payload, environment: Environment) => boolean

export interface HostAnswers {
  /** Several hosts imitate Claude Code: unrecognized payloads count as Claude Code's. */
  readonly recognizes?: PayloadTest
  /** It runs an event's hooks one after another, and gives each the time of the event. */
  readonly repeatsTime?: PayloadTest
  readonly startsSubagent?: PayloadTest
  readonly showsNotice?: PayloadTest
  readonly takesContextAtTop?: PayloadTest
  readonly takesContextOfBlock?: PayloadTest
  readonly writesSequences?: PayloadTest
  readonly handsOverReports?: PayloadTest
}

export interface HostDifference extends HostAnswers {
  /** The value of `--host`; only for hosts whose shell names the session. */
  readonly name?: string
  readonly readFields?: (fields: PayloadFields, readEnd: ReadEnd) => PayloadFields
  /** The host asks no stop hook for these, or ignores its block. */
  readonly endingTools?: readonly string[]
  /** Set in the shell of its agents. */
  readonly sessionVariable?: string
  readonly readShell?: (environment: Environment, session: string) => Omit<ShellIdentity, 'session'>
  readonly exempts?: (payload: Payload, environment: Environment, readEnd: ReadEnd) => Exemption | undefined
}

export function hasVariable(name: string): PayloadTest {
  return (_payload, environment) => variable(environment, name) !== undefined
}
