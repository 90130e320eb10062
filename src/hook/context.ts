import type { HookAnswer } from '../core/answer.ts'
import type { CommandForm } from '../core/command-line.ts'
import type { Environment } from '../core/hosts/host.ts'
import type { Payload } from '../core/payload.ts'
import type { Recorded } from '../io/journal.ts'

/** What the hook knows when it starts to answer. */
export interface HookContext {
  readonly payload: Payload
  readonly environment: Environment
  /** Every distinct root, in the resolver's order. */
  readonly roots: readonly string[]
  /** The root that a command of the agent would find from where it is. */
  readonly agentRoot: string | undefined
  /** Looked for only when a command is printed. */
  readonly findForm: () => CommandForm
  /** ms since the epoch. */
  readonly nowMs: number
  /** When to go on with what there is, as an age of this process (ms). */
  readonly deadline?: number
}

/** What came of it. */
export interface HookResult {
  readonly answer: HookAnswer
  readonly recorded: readonly Recorded[]
  /** For stderr. */
  readonly complaints: readonly string[]
}

/** The `--root` that a printed command needs, or undefined where it finds the root by itself. */
export function rootOption(context: HookContext, root: string): string | undefined {
  return root === context.agentRoot ? undefined : root
}
