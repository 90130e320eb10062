import path from 'node:path'
import { PostflightError } from '../../core/errors.ts'
import { MARKER_FILE } from '../../core/files.ts'
import { MAIN_AGENT, newMarkerFields } from '../../core/marker.ts'
import { WORKFLOW_TEXT } from '../../core/messages/runs.ts'
import { markerDisplayPath } from '../../core/stored-marker.ts'
import { type TaskFolder, taskNumberOf, taskWord } from '../../core/task-folder.ts'
import type { WorkflowState } from '../../core/workflow/state.ts'
import { kindAt } from '../fs/path-kind.ts'
import { readMarker, requireReadable } from '../marker-file.ts'
import { newMarkerId } from '../marker-id.ts'
import { endMarker, writeNewMarker } from '../marker-store.ts'

/** A run's own marker, which lies in its task folder while it is active (DESIGN section 8). */

/**
 * Refuses a folder where somebody else's promise is pending: the run's own marker could not lie beside it.
 * @throws {PostflightError} `workflow-marker`, `marker-unreadable`.
 */
export function refuseOtherMarker(folder: TaskFolder): void {
  const present = requireReadable(readMarker(folder))
  if (present !== undefined && !present.marker.workflow) throw otherMarker(folder)
}

function otherMarker(folder: TaskFolder): PostflightError {
  return new PostflightError('workflow-marker', { path: markerDisplayPath(folder), task: taskWord(folder) })
}

/**
 * The marker by which launcher and hook find the run.
 * @throws {PostflightError} `workflow-marker` when another promise's lies there by now, `marker-unreadable`.
 */
export function putMarker(folder: TaskFolder, state: WorkflowState, nowMs: number): void {
  const fields = newMarkerFields({
    id: newMarkerId(),
    sessionId: `workflow_${Math.floor(state.startedMs / 1000)}`,
    skill: 'postflight-workflow',
    taskNumber: taskNumberOf(folder.task) ?? 0,
    operation: state.name,
    reason: WORKFLOW_TEXT.markerReason(state.name),
    createdMs: nowMs,
    hostSession: state.hostSession,
    agent: state.hostSession === undefined ? undefined : MAIN_AGENT,
  })
  writeNewMarker(folder, (present) => {
    if (present !== undefined && !present.marker.workflow) throw otherMarker(folder)
    return { fields: { ...fields, workflow: true }, keepsCount: false }
  })
}

/** Puts the marker back where it is missing; another promise's is left alone, and holds the agent until it is kept. */
export function ensureMarker(folder: TaskFolder, state: WorkflowState, nowMs: number): void {
  if (readMarker(folder) !== undefined) return
  try {
    putMarker(folder, state, nowMs)
  } catch (error) {
    // Made a moment ago.
    if (!(error instanceof PostflightError) || error.code !== 'workflow-marker') throw error
  }
}

/**
 * Ends the run's marker, if one lies there; another promise's stays.
 * @throws {PostflightError} `marker-unreadable`, `locked`.
 */
export function removeMarker(folder: TaskFolder): void {
  if (kindAt(path.join(folder.path, MARKER_FILE)) !== undefined) endMarker(folder, (stored) => stored.marker.workflow)
}
