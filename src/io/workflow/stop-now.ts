import { WORKFLOW_TEXT } from '../../core/messages/runs.ts'
import type { TaskFolder } from '../../core/task-folder.ts'
import { haltState } from '../../core/workflow/control.ts'
import { COMMAND_PATIENCE_MS } from '../fs/lock.ts'
import type { Stopping } from './run.ts'
import { requireRun, requireState, withRunLock, writeChanged } from './state-store.ts'
import { removeIfEnded } from './turn.ts'

/**
 * Stops a run at once, resumable. It does not wait for a prompt that is out; a result of that prompt counts when the
 * run is resumed.
 */
export function stopRunNow(folder: TaskFolder, nowMs: number): Stopping {
  requireRun(folder)
  return withRunLock(folder, COMMAND_PATIENCE_MS, () => {
    const state = requireState(folder)
    if (!state.active) return { state, wasOver: true }
    const halted = haltState(state, WORKFLOW_TEXT.stoppedNow, nowMs)
    writeChanged(folder, halted, state)
    removeIfEnded(folder, halted)
    return { state: halted, wasOver: false }
  })
}
