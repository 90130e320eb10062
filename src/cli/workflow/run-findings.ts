import { commandLine } from '../../core/commands.ts'
import { MARKER_FILE } from '../../core/files.ts'
import { formatAge, HOUR_MS } from '../../core/time.ts'
import { markerDisplayPath, readMarker } from '../../io/marker-file.ts'
import { listTaskFolders, type TaskFolder, taskWord } from '../../io/search.ts'
import { runOfMarker } from './marker-run.ts'

/** What `doctor` says of workflows: a marker without its run, a run without its marker, a run that does not move. */

/** A run that has not moved for longer than this (ms) has lost its client. */
const PATIENCE_MS = 24 * HOUR_MS

/** One finding. */
export interface RunFinding {
  readonly ok: boolean
  readonly what: string
  readonly fix: string | null
}

/** Findings for every workflow of a root. */
export function runFindings(root: string, nowMs: number): RunFinding[] {
  return listTaskFolders(root).folders.flatMap((folder) => findingFor(folder, nowMs) ?? [])
}

function findingFor(folder: TaskFolder, nowMs: number): RunFinding | undefined {
  const read = readMarker(folder)
  const marker = read?.kind === 'marker' && read.marker.workflow ? read.marker : undefined
  const { standing, note, state } = runOfMarker(folder)
  const command = (...words: string[]): string => commandLine([...words, taskWord(folder)], undefined)
  const resume = command('workflow', 'resume')
  const bad = (what: string, fix: string): RunFinding => ({ ok: false, what: `${folder.relative}: ${what}`, fix })
  if (standing === 'unusable') return bad(note, 'mend that file by hand, or move it away')
  if (marker === undefined) {
    if (standing !== 'running') return undefined
    return read === undefined
      ? bad(`${note}, but ${MARKER_FILE} is missing: no hook finds it`, resume)
      : bad(
          `${note}, but ${markerDisplayPath(folder)} is another postflight's: no hook finds it`,
          `finish that one, or ${command('clear')}; then ${resume}`,
        )
  }
  if (state === undefined || standing !== 'running') {
    return bad(`${MARKER_FILE} is left behind: ${note}`, command('clear'))
  }
  if (marker.hostSession !== state.hostSession) {
    return bad(`${note}, but its marker names another session: no hook drives it`, resume)
  }
  const age = nowMs - state.updatedMs
  return age > PATIENCE_MS
    ? bad(`${note}, and has not moved for ${formatAge(age)}`, `${resume}, or ${command('workflow', 'abort')}`)
    : { ok: true, what: `${folder.relative}: ${note}`, fix: null }
}
