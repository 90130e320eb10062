import type { CommandReader } from '../core/command-line.ts'
import type { Environment } from '../core/hosts/host.ts'
import type { Recorded } from '../core/journal-entry.ts'
import type { Payload } from '../core/payload.ts'
import { NOTHING_TO_REPORT, type Report } from '../core/stop/answer-for.ts'

/** What the hook knows when an event comes. */
export interface HookContext {
  readonly payload: Payload
  readonly environment: Environment
  /** Every distinct root, in the resolver's order. */
  readonly roots: readonly string[]
  /** Where the agent would type a command that is printed. */
  readonly reader: CommandReader
  /** ms since the epoch. */
  readonly nowMs: number
  /** When to go on with what there is, as an age of this process (ms). */
  readonly deadline: number
}

/** What the hook did about an event. */
export interface HookResult {
  readonly report: Report
  readonly recorded: readonly Recorded[]
  /** For stderr alone. */
  readonly complaints: readonly string[]
}

/** The result of an event that is not ours. */
export const NOTHING_DONE: HookResult = { report: NOTHING_TO_REPORT, recorded: [], complaints: [] }
