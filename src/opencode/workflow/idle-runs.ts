import { MAIN_AGENT } from '../../core/marker.ts'
import type { StoredMarker, UnreadableMarker } from '../../core/stored-marker.ts'
import { type TaskFolder, taskWord } from '../../core/task-folder.ts'
import type { WorkflowState } from '../../core/workflow/state.ts'
import { readState } from '../../io/workflow/state-store.ts'
import { WORKFLOW_TOOL_TEXT } from '../messages.ts'
import type { Agent } from '../sessions.ts'

/**
 * Runs that a conversation started by the CLI and that nobody drives: on Claude Code ending the turn is enough for the
 * prompts to come, here a tool has to be called. The agent is told so when it stops, once for each state of the run: a
 * second time without any progress would be the beginning of a loop.
 */

/** A run that waits for a driver. */
export interface IdleRun {
  /** What the agent is told. */
  readonly reason: string
  /** Notes that it was told. */
  readonly told: () => void
}

export class IdleRuns {
  readonly #driven: ReadonlySet<string>
  /** The last transition at which it was told, by task folder. */
  readonly #told = new Map<string, number>()

  /** `driven`: the task folders whose run is driven now. */
  constructor(driven: ReadonlySet<string>) {
    this.#driven = driven
  }

  /** The first run of the conversation that waits for a driver, in path order. */
  idle(agent: Agent, markers: readonly (StoredMarker | UnreadableMarker)[]): IdleRun | undefined {
    if (agent.agent !== MAIN_AGENT) return undefined
    for (const found of markers) {
      if (found.kind !== 'marker' || !found.marker.workflow || found.marker.bypassed) continue
      const { folder, marker } = found
      if (marker.hostSession !== agent.root || this.#driven.has(folder.path)) continue
      const state = tryReadState(folder)
      if (state?.active !== true || state.hostSession !== agent.root) continue
      if (this.#told.get(folder.path) === state.sequence) continue
      return {
        reason: WORKFLOW_TOOL_TEXT.waits(taskWord(folder), state.name),
        told: () => this.#told.set(folder.path, state.sequence),
      }
    }
    return undefined
  }
}

/** A state that cannot be used is no reason to lose a stop over: the tool, `status` and `doctor` say what is wrong with it. */
function tryReadState(folder: TaskFolder): WorkflowState | undefined {
  try {
    return readState(folder)
  } catch {
    return undefined
  }
}
