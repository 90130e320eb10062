import { type Moment, mayGetWork } from '../../hosts/payload.ts'
import { quote } from '../../kernel/text.ts'
import { sessionEvent } from '../../marker/marker-wait.ts'
import { appendJournal, appendRecorded } from '../../project/journal.ts'
import { taskWord } from '../../project/task-folder.ts'
import { cameBack, takeTurn } from '../../run/drive.ts'
import { afterWaitEvent } from '../../run/machine/agent-stop.ts'
import { needOf } from '../../run/machine/position.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import { planningNotice } from '../../run/run-messages.ts'
import { findActiveRuns, unusableNotice, unusableRecord, updateRunWait } from '../../run/store/active-runs.ts'
import type { DrivenRuns } from './driven-runs.ts'

/**
 * The next prompt needs a call of our tool. The agent is asked once per state: asking again without progress would begin
 * a loop.
 */

export function createIdleRuns(driven: DrivenRuns) {
  /** The last transition at which the agent got the request. */
  const notified = new Map<string, number>()

  /** `note` takes the locks of runs. */
  return (occasion: Moment, roots: readonly string[]) => {
    const { event, session } = occasion.payload
    const isStopping = ({ hostSession, stopRequestedMs }: WorkflowState): boolean =>
      hostSession === session && stopRequestedMs !== undefined
    const { runs: active, problems } = findActiveRuns(event === 'Stop' ? roots : [], occasion)
    const runs = active.filter(({ folder }) => !driven.has(folder.path, session))
    const waiting = runs.find(({ folder, state }) => {
      const { kind } = needOf(state)
      if (kind === 'approval' || kind === 'stop') return false
      const { wait } = afterWaitEvent(state, sessionEvent(occasion, 'stop'), occasion.startMs)
      return wait === undefined && (kind === 'wait' || notified.get(folder.path) !== state.sequence)
    })
    const due = mayGetWork(occasion.payload) ? waiting : undefined
    const task = waiting && quote(taskWord(waiting.folder), 80)
    const prompt =
      due &&
      `The workflow "${quote(due.state.name, 100)}" of task ${task} is running and waits for you: call the tool workflow_run once, with the task "${task}" and an empty definition, and wait for its result.`
    const notices = problems.map(unusableNotice)
    if (waiting !== due) notices.push(planningNotice(`the workflow of task ${task}`))
    return {
      stop: { prompt, notices, problems: [], recorded: problems.map(unusableRecord) },
      note: () => {
        for (const { folder, state } of runs) {
          const { kind } = needOf(state)
          if (kind === 'wait') appendRecorded(updateRunWait(folder, occasion, 'stop'), Date.now())
          if (kind !== 'stop') continue
          // No further prompt will follow.
          const turn = takeTurn(folder, cameBack(occasion.startMs, isStopping))
          if (turn.command !== 'none') appendJournal(folder.root, turn.entries, Date.now())
        }
        if (due !== undefined) notified.set(due.folder.path, due.state.sequence)
      },
    }
  }
}

export type IdleRuns = ReturnType<typeof createIdleRuns>
