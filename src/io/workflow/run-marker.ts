import path from 'node:path'
import { PostflightError } from '../../core/errors.ts'
import { MARKER_FILE } from '../../core/files.ts'
import { MAIN_AGENT } from '../../core/marker.ts'
import { newMarkerFields } from '../../core/marker-text.ts'
import { WORKFLOW_TEXT } from '../../core/messages/runs.ts'
import { markerDisplayPath } from '../../core/stored-marker.ts'
import { type TaskFolder, taskNumberOf, taskWord } from '../../core/task-folder.ts'
import type { WorkflowState } from '../../core/workflow/state.ts'
import { kindAt } from '../fs/path-kind.ts'
import { readMarker, requireReadable } from '../marker-file.ts'
import { newMarkerId } from '../marker-id.ts'
import { endMarker, writeNewMarker } from '../marker-store.ts'

/** A run's own marker, which lies in its task folder while the run is active (docs/design.md, "Workflows"). */

/**
 * Refuses a folder where another postflight is pending: the run's own marker has the same name.
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
 * Writes the marker by which launcher and hook find the run.
 * @throws {PostflightError} `workflow-marker` when the marker of another postflight lies there, `marker-unreadable`.
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

/** Writes the marker again where it is missing. The marker of another postflight is left alone, and blocks as any other. */
export function ensureMarker(folder: TaskFolder, state: WorkflowState, nowMs: number): void {
  if (readMarker(folder) !== undefined) return
  try {
    putMarker(folder, state, nowMs)
  } catch (error) {
    // Another process wrote it a moment ago.
    if (!(error instanceof PostflightError) || error.code !== 'workflow-marker') throw error
  }
}

/**
 * Removes the run's marker, if there is one; the marker of another postflight stays.
 * @throws {PostflightError} `marker-unreadable`, `locked`.
 */
export function removeMarker(folder: TaskFolder): void {
  if (kindAt(path.join(folder.path, MARKER_FILE)) !== undefined) endMarker(folder, (stored) => stored.marker.workflow)
}
