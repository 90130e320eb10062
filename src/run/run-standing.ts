import { oneLine } from '../kernel/text.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { messageOf } from '../views/print.ts'
import { placeText } from '../views/run-view.ts'
import type { WorkflowState } from './machine/state.ts'
import { WORKFLOW_TEXT } from './run-messages.ts'
import { readState } from './store/state-store.ts'

/** How the run of a task folder stands, in words. */

/** How the run stands. */
export interface RunStanding {
  /** `unusable`: the state cannot be read. */
  readonly standing: 'running' | 'over' | 'unusable'
  /** The same in words. */
  readonly note: string
  readonly state: WorkflowState | undefined
}

/** Looks for the run of a folder; undefined where there is none. Never throws. */
export function runStanding(folder: TaskFolder): RunStanding | undefined {
  try {
    const state = readState(folder)
    if (state === undefined) return undefined
    const name = oneLine(state.name, 100)
    return state.active
      ? { standing: 'running', note: WORKFLOW_TEXT.running(name, placeText(state)), state }
      : { standing: 'over', note: WORKFLOW_TEXT.over(name, state.outcome ?? ''), state }
  } catch (error) {
    return { standing: 'unusable', note: messageOf(error), state: undefined }
  }
}
