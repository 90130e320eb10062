import type { Moment } from '../../hosts/occasion.ts'
import { WORKFLOW_TOOL_TEXT } from '../../hosts/opencode/opencode-messages.ts'
import { sessionEvent } from '../../marker/marker-wait.ts'
import { appendJournal, appendRecorded } from '../../project/journal.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { CAME_BACK, takeTurn } from '../../run/drive.ts'
import { afterWaitEvent } from '../../run/machine/agent-stop.ts'
import { needOf } from '../../run/machine/need.ts'
import { findActiveRuns } from '../../run/store/active-runs.ts'
import { updateRunWait } from '../../run/store/run-wait.ts'

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
  look(occasion: Moment, roots: readonly string[]): IdleRun {
    const { payload } = occasion
    const waiting: TaskFolder[] = []
    const stopping: TaskFolder[] = []
    let reason: string | undefined
    let told = (): void => {}
    // Unusable runs are left out: the tool, `status` and `doctor` report them, and a stop need not fail.
    const { runs } = payload.event === 'Stop' ? findActiveRuns(roots) : { runs: [] }
    for (const { folder, state } of runs) {
      if (state.hostSession !== payload.session || this.#driven.has(folder.path)) continue
      const need = needOf(state)
      if (need.kind === 'wait') waiting.push(folder)
      if (need.kind === 'stop') stopping.push(folder)
      if (need.kind === 'approval' || need.kind === 'stop') continue
      const { wait } = afterWaitEvent(state, sessionEvent(occasion, 'stop'), occasion.startMs)
      if (wait !== undefined || reason !== undefined) continue
      if (need.kind === 'prompt' && this.#told.get(folder.path) === state.sequence) continue
      reason = WORKFLOW_TOOL_TEXT.waits(taskWord(folder), state.name)
      told = () => this.#told.set(folder.path, state.sequence)
    }
    return {
      reason,
      note: () => {
        for (const folder of waiting) appendRecorded(updateRunWait(folder, occasion, 'stop'), Date.now())
        for (const folder of stopping) endStopping(folder, occasion)
        told()
      },
    }
  }
}

/** Judges the work that a run's last prompt left. No further prompt goes out, so the run is then over. */
function endStopping(folder: TaskFolder, { payload, startMs }: Moment): void {
  const turn = takeTurn(folder, {
    ...{ ...CAME_BACK, promptId: undefined, startMs },
    drives: ({ hostSession, stopRequestedMs }) => hostSession === payload.session && stopRequestedMs !== undefined,
  })
  if (turn.command !== 'none') appendJournal(folder.root, turn.entries, Date.now())
}
