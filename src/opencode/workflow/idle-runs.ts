import { MAIN_AGENT } from '../../hosts/host.ts'
import { WORKFLOW_TOOL_TEXT } from '../../hosts/opencode/opencode-messages.ts'
import { waitStateAt } from '../../marker/wait.ts'
import { appendJournal, appendRecorded } from '../../project/journal.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { CAME_BACK, takeTurn } from '../../run/drive.ts'
import { needOf } from '../../run/machine/need.ts'
import { findActiveRuns } from '../../run/store/active-runs.ts'
import { settleRunWait } from '../../run/store/run-wait.ts'
import type { Agent } from '../sessions.ts'

/**
 * Finds runs that a conversation started with the CLI and that have no driver: on Claude Code the prompts come when the
 * turn ends, here the agent must call a tool. Its stop is blocked with that request, once for each state of the run: a
 * second time without progress would be the beginning of a loop. A run that waits at this prompt is skipped, and one that
 * was asked to stop ends at this stop.
 */

/** The runs without a driver at a stop. */
export interface IdleRun {
  /** The reason of the block; undefined where no run needs the agent. */
  readonly reason: string | undefined
  /** Notes that the agent got the request, and that runs wait. Takes the locks of runs. */
  readonly note: () => void
}

/** Runs without a driver. */
export class IdleRuns {
  readonly #driven: ReadonlySet<string>
  /** The last transition at which the agent got the request, by task folder. */
  readonly #told = new Map<string, number>()

  /** `driven`: the task folders whose run is being driven. */
  constructor(driven: ReadonlySet<string>) {
    this.#driven = driven
  }

  /** Looks at the conversation's runs at a stop, and names the first one without a driver, in path order. Writes nothing. */
  look(agent: Agent, roots: readonly string[], prompt: string | undefined): IdleRun {
    const event = { prompt, startMs: Date.now() }
    const waiting: TaskFolder[] = []
    const stopping: TaskFolder[] = []
    let reason: string | undefined
    let told = (): void => {}
    // Unusable runs are left out: the tool, `status` and `doctor` report them, and a stop need not fail.
    const { runs } = agent.agent === MAIN_AGENT ? findActiveRuns(roots) : { runs: [] }
    for (const { folder, state } of runs) {
      if (state.hostSession !== agent.root || this.#driven.has(folder.path)) continue
      if (needOf(state).kind === 'approval') continue
      if (state.stopRequestedMs !== undefined) {
        stopping.push(folder)
        continue
      }
      if (state.wait !== undefined) waiting.push(folder)
      const wait = waitStateAt(state.wait, event)
      if (wait === 'begins' || wait === 'stands' || reason !== undefined) continue
      if (wait === 'none' && this.#told.get(folder.path) === state.sequence) continue
      reason = WORKFLOW_TOOL_TEXT.waits(taskWord(folder), state.name)
      told = () => this.#told.set(folder.path, state.sequence)
    }
    return {
      reason,
      note: () => {
        for (const folder of waiting) appendRecorded(settleRunWait(folder, agent.root, event), Date.now())
        for (const folder of stopping) endStopping(folder, agent.root, event.startMs)
        told()
      },
    }
  }
}

/** Judges the work that a run's last prompt left. No further prompt goes out, so the run is then over. */
function endStopping(folder: TaskFolder, session: string, startMs: number): void {
  const turn = takeTurn(folder, {
    ...{ ...CAME_BACK, promptId: undefined, startMs },
    drives: ({ hostSession, stopRequestedMs }) => hostSession === session && stopRequestedMs !== undefined,
  })
  if (turn.command !== 'none') appendJournal(folder.root, turn.entries, Date.now())
}
