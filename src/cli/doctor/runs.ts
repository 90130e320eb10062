import { commandLine } from '../../core/command-line.ts'
import { MARKER_FILE } from '../../core/files.ts'
import { markerDisplayPath } from '../../core/stored-marker.ts'
import { type TaskFolder, taskWord } from '../../core/task-folder.ts'
import { formatAge, HOUR_MS } from '../../core/time.ts'
import { readMarker } from '../../io/marker-file.ts'
import { listTaskFolders } from '../../io/task-folders.ts'
import { WORKFLOW_FOLDER } from '../../io/workflow/state-store.ts'
import { runOfMarker } from '../workflow/marker-run.ts'
import { bad, type DoctorFinding, good } from './finding.ts'
import { findUnwritable } from './writable.ts'

/** What can be wrong with workflows: a marker without its run, a run without its marker, a run that does not move. */

/** A run that has not moved for longer than this (ms) has lost its client. */
const PATIENCE_MS = 24 * HOUR_MS

/** Every workflow of a root. */
export function checkRuns(root: string, nowMs: number): DoctorFinding[] {
  return listTaskFolders(root).folders.flatMap((folder) => findingFor(folder, nowMs) ?? [])
}

function findingFor(folder: TaskFolder, nowMs: number): DoctorFinding | undefined {
  const read = readMarker(folder)
  const marker = read?.kind === 'marker' && read.marker.workflow ? read.marker : undefined
  const { standing, note, state } = runOfMarker(folder)
  const command = (...words: string[]): string => commandLine([...words, taskWord(folder)], undefined)
  const resume = command('workflow', 'resume')
  const wrong = (what: string, fix: string): DoctorFinding => bad('workflow', `${folder.relative}: ${what}`, fix)
  if (standing === 'unusable') return wrong(note, 'mend that file by hand, or move it away')
  if (marker === undefined) {
    if (standing !== 'running') return undefined
    return read === undefined
      ? wrong(`${note}, but ${MARKER_FILE} is missing: no hook finds it`, resume)
      : wrong(
          `${note}, but ${markerDisplayPath(folder)} is another postflight's: no hook finds it`,
          `finish that one, or ${command('clear')}; then ${resume}`,
        )
  }
  if (state === undefined || standing !== 'running') {
    return wrong(`${MARKER_FILE} is left behind: ${note}`, command('clear'))
  }
  if (marker.hostSession !== state.hostSession) {
    return wrong(`${note}, but its marker names another session: no hook drives it`, resume)
  }
  const unwritable = findUnwritable(folder, [WORKFLOW_FOLDER])
  if (unwritable !== undefined) return wrong(`${note}, but ${unwritable.what}: it cannot go on`, unwritable.fix)
  const age = nowMs - state.updatedMs
  return age > PATIENCE_MS
    ? wrong(`${note}, and has not moved for ${formatAge(age)}`, `${resume}, or ${command('workflow', 'abort')}`)
    : good('workflow', `${folder.relative}: ${note}`)
}
