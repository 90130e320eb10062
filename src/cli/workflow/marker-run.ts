import { errorMessage } from '../../core/messages/errors.ts'
import { WORKFLOW_TEXT } from '../../core/messages/runs.ts'
import type { TaskFolder } from '../../core/task-folder.ts'
import { oneLine } from '../../core/text.ts'
import type { WorkflowState } from '../../core/workflow/state.ts'
import { haltRun } from '../../io/workflow/run.ts'
import { readState } from '../../io/workflow/state-store.ts'
import { asPostflightError } from '../report.ts'
import { placeText } from './view.ts'

/** The run of a workflow's marker, for the commands about markers. */

/** How the run stands. */
export interface MarkerRun {
  /** `over` and `missing`: no driver will remove the marker. `unusable`: the state cannot be read. */
  readonly standing: 'running' | 'over' | 'missing' | 'unusable'
  /** The same in words. */
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
 * Stops a run at once, so that it can be resumed, and removes its marker. Returns false where none is running.
 * @throws {PostflightError} `locked`; file-system errors.
 */
export function stopRunOfMarker(folder: TaskFolder, why: 'bypassed' | 'cleared', nowMs: number): boolean {
  if (runOfMarker(folder).standing !== 'running') return false
  haltRun(folder, why, nowMs)
  return true
}
