import { MAIN_AGENT } from '../../core/marker.ts'
import { taskWord } from '../../core/task-folder.ts'
import { findActiveRuns } from '../../io/workflow/active-runs.ts'
import { WORKFLOW_TOOL_TEXT } from '../messages.ts'
import type { Agent } from '../sessions.ts'

/**
 * Finds runs that a conversation started with the CLI and that have no driver: on Claude Code the prompts come when the
 * turn ends, here the agent must call a tool. It is told so when it stops, once for each state of the run: a second time
 * without progress would be the beginning of a loop.
 */

/** A run without a driver. */
export interface IdleRun {
  /** The reason of the block. */
  readonly reason: string
  /** Notes that the agent was told. */
  readonly told: () => void
}

/** Runs without a driver. */
export class IdleRuns {
  readonly #driven: ReadonlySet<string>
  /** The last transition at which the agent was told, by task folder. */
  readonly #told = new Map<string, number>()

  /** `driven`: the task folders whose run is being driven. */
  constructor(driven: ReadonlySet<string>) {
    this.#driven = driven
  }

  /** The first run of the conversation without a driver, in path order. */
  idle(agent: Agent, roots: readonly string[]): IdleRun | undefined {
    if (agent.agent !== MAIN_AGENT) return undefined
    // Runs that cannot be used are left out: the tool, `status` and `doctor` report them, a stop need not fail.
    for (const { folder, state } of findActiveRuns(roots).runs) {
      if (state.hostSession !== agent.root || this.#driven.has(folder.path)) continue
      if (this.#told.get(folder.path) === state.sequence) continue
      return {
        reason: WORKFLOW_TOOL_TEXT.waits(taskWord(folder), state.name),
        told: () => this.#told.set(folder.path, state.sequence),
      }
    }
    return undefined
  }
}
