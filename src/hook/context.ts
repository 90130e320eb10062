import type { Payload } from '../hosts/host.ts'
import type { CommandReader } from '../kernel/command-line.ts'
import type { Environment } from '../kernel/environment.ts'
import type { Recorded } from '../project/journal-entry.ts'
import { NOTHING_TO_REPORT, type Report } from '../stop/answer-for.ts'

/** The event that the hook answers, and its circumstances. */
export interface HookContext {
  readonly payload: Payload
  readonly environment: Environment
  /** Every distinct root, in the resolver's order. */
  readonly roots: readonly string[]
  /** How the agent's commands find the root and the CLI. */
  readonly reader: CommandReader
  /** ms since the epoch. */
  readonly nowMs: number
  /** The age of this process (ms) at which no further marker is judged. */
  readonly deadline: number
  /** When the hook was started (ms since the epoch), which is after the agent wanted to stop. */
  readonly findStart: () => number
  /** When the payload's session began (ms since the epoch); undefined if that is not known. */
  readonly findSessionBirth: () => number | undefined
}

/** The result of handling an event. */
export interface HookResult {
  readonly report: Report
  readonly recorded: readonly Recorded[]
  /** For stderr alone. */
  readonly complaints: readonly string[]
}

/** The result for an event that needs nothing. */
export const NOTHING_DONE: HookResult = { report: NOTHING_TO_REPORT, recorded: [], complaints: [] }
