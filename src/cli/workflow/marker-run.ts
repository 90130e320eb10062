import { errorMessage } from '../../core/messages/errors.ts'
import { WORKFLOW_TEXT } from '../../core/messages/runs.ts'
import type { TaskFolder } from '../../core/task-folder.ts'
import { oneLine } from '../../core/text.ts'
import type { WorkflowState } from '../../core/workflow/state.ts'
import { haltRun } from '../../io/workflow/run.ts'
import { readState } from '../../io/workflow/state-store.ts'
import { asPostflightError } from '../report.ts'
import { placeText } from './view.ts'

/** The run that a workflow's marker stands for, for the commands that are about markers. */

/** How it stands. */
export interface MarkerRun {
  /** `over` and `missing`: nobody will ever remove the marker. `unusable`: the state cannot be read. */
  readonly standing: 'running' | 'over' | 'missing' | 'unusable'
  /** In words. */
  readonly note: string
  readonly state: WorkflowState | undefined
}

/** Looks for the run of a folder. Never throws. */
export function runOfMarker(folder: TaskFolder): MarkerRun {
  try {
    const state = readState(folder)
    if (state === undefined) return { standing: 'missing', note: WORKFLOW_TEXT.noRun, state }
    const name = oneLine(state.name, 100)
    return state.active
      ? { standing: 'running', note: WORKFLOW_TEXT.running(name, placeText(state)), state }
      : { standing: 'over', note: WORKFLOW_TEXT.over(name, state.outcome ?? ''), state }
  } catch (error) {
    const { code, args } = asPostflightError(error)
    return { standing: 'unusable', note: errorMessage(code, args), state: undefined }
  }
}

/**
 * Stops a run at once, so that it can be taken up again; its marker goes. False where there is none that runs.
 * @throws {PostflightError} `locked`; file-system errors.
 */
export function stopRunOfMarker(folder: TaskFolder, why: 'bypassed' | 'cleared', nowMs: number): boolean {
  if (runOfMarker(folder).standing !== 'running') return false
  haltRun(folder, why, nowMs)
  return true
}
