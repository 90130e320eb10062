import type { Moment } from '../../hosts/payload.ts'
import { quote } from '../../kernel/text.ts'
import { sessionEvent } from '../../marker/marker-wait.ts'
import { appendJournal, appendRecorded } from '../../project/journal.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { CAME_BACK, takeTurn } from '../../run/drive.ts'
import { afterWaitEvent } from '../../run/machine/agent-stop.ts'
import { needOf } from '../../run/machine/position.ts'
import { findActiveRuns, unusableNotice, unusableRecord } from '../../run/store/active-runs.ts'
import { updateRunWait } from '../../run/store/run-wait.ts'

/**
 * On Claude Code the prompts come when the turn ends; here the agent must call a tool. Requested once per state:
 * repeating it without progress would begin a loop.
 */

export function createIdleRuns(driven: Pick<ReadonlyMap<string, unknown>, 'has'>) {
  /** The last transition at which the agent got the request. */
  const notified = new Map<string, number>()

  /** `note` takes the locks of runs. */
  return (occasion: Moment, roots: readonly string[]) => {
    const { payload } = occasion
    const waiting: TaskFolder[] = []
    const stopping: TaskFolder[] = []
    let reason: string | undefined
    let noteRequest = (): void => {}
    const { runs, problems } = findActiveRuns(payload.event === 'Stop' ? roots : [])
    for (const { folder, state } of runs) {
      if (state.hostSession !== payload.session || driven.has(folder.path)) continue
      const need = needOf(state)
      if (need.kind === 'wait') waiting.push(folder)
      if (need.kind === 'stop') stopping.push(folder)
      if (need.kind === 'approval' || need.kind === 'stop') continue
      const { wait } = afterWaitEvent(state, sessionEvent(occasion, 'stop'), occasion.startMs)
      if (wait !== undefined || reason !== undefined) continue
      if (need.kind === 'prompt' && notified.get(folder.path) === state.sequence) continue
      const task = quote(taskWord(folder), 80)
      reason = `The workflow "${quote(state.name, 100)}" of task ${task} is running and waits for you: call the tool workflow_run once, with the task "${task}" and an empty definition, and wait for its result.`
      noteRequest = () => notified.set(folder.path, state.sequence)
    }
    const notices = problems.map(unusableNotice)
    return {
      stop: { prompt: reason, notices, problems: [], recorded: problems.map(unusableRecord) },
      note: () => {
        for (const folder of waiting) appendRecorded(updateRunWait(folder, occasion, 'stop'), Date.now())
        for (const folder of stopping) endStopping(folder, occasion)
        noteRequest()
      },
    }
  }
}

export type IdleRuns = ReturnType<typeof createIdleRuns>

/** No further prompt will follow. */
function endStopping(folder: TaskFolder, { payload, startMs }: Moment): void {
  const turn = takeTurn(folder, {
    ...CAME_BACK,
    promptId: undefined,
    startMs,
    drives: ({ hostSession, stopRequestedMs }) => hostSession === payload.session && stopRequestedMs !== undefined,
  })
  if (turn.command !== 'none') appendJournal(folder.root, turn.entries, Date.now())
}
