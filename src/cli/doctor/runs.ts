import { commandLine } from '../../core/command-line.ts'
import { MARKER_FILE } from '../../core/files.ts'
import { RUN_FINDINGS } from '../../core/messages/doctor.ts'
import { markerDisplayPath } from '../../core/stored-marker.ts'
import { type TaskFolder, taskWord } from '../../core/task-folder.ts'
import { formatAge, HOUR_MS } from '../../core/time.ts'
import { readMarker } from '../../io/marker-file.ts'
import { listTaskFolders } from '../../io/task-folders.ts'
import { WORKFLOW_FOLDER } from '../../io/workflow/state-store.ts'
import { runOfMarker } from '../workflow/marker-run.ts'
import { bad, type DoctorFinding, good } from './finding.ts'
import { findUnwritable } from './writable.ts'

/** Checks workflows: finds markers without a run, runs without a marker, and runs that do not move. */

/** A run that has not moved for longer than this (ms) has lost its driver. */
const PATIENCE_MS = 24 * HOUR_MS

/** Checks every workflow of a root. */
export function checkRuns(root: string, nowMs: number): DoctorFinding[] {
  return listTaskFolders(root).folders.flatMap((folder) => findingFor(folder, nowMs) ?? [])
}

function findingFor(folder: TaskFolder, nowMs: number): DoctorFinding | undefined {
  const read = readMarker(folder)
  const marker = read?.kind === 'marker' && read.marker.workflow ? read.marker : undefined
  const { standing, note, state } = runOfMarker(folder)
  const command = (...words: string[]): string => commandLine([...words, taskWord(folder)], undefined)
  const resume = command('workflow', 'resume')
  const wrong = (what: string, fix: string): DoctorFinding =>
    bad('workflow', RUN_FINDINGS.about(folder.relative, what), fix)
  if (standing === 'unusable') return wrong(note, RUN_FINDINGS.repairState)
  if (marker === undefined) {
    if (standing !== 'running') return undefined
    return read === undefined
      ? wrong(RUN_FINDINGS.noMarker(note, MARKER_FILE), resume)
      : wrong(
          RUN_FINDINGS.markerOfAnother(note, markerDisplayPath(folder)),
          RUN_FINDINGS.finishOther(command('clear'), resume),
        )
  }
  if (state === undefined || standing !== 'running') {
    return wrong(RUN_FINDINGS.markerLeftBehind(MARKER_FILE, note), command('clear'))
  }
  if (marker.hostSession !== state.hostSession) {
    return wrong(RUN_FINDINGS.otherSession(note), resume)
  }
  const unwritable = findUnwritable(folder, [WORKFLOW_FOLDER])
  if (unwritable !== undefined) return wrong(RUN_FINDINGS.blocked(note, unwritable.what), unwritable.fix)
  const age = nowMs - state.updatedMs
  return age > PATIENCE_MS
    ? wrong(RUN_FINDINGS.idle(note, formatAge(age)), RUN_FINDINGS.resumeOrAbort(resume, command('workflow', 'abort')))
    : good('workflow', RUN_FINDINGS.about(folder.relative, note))
}
