import { commandLine } from '../../kernel/command-line.ts'
import { WORKFLOW_FOLDER } from '../../kernel/files.ts'
import { formatAge, HOUR_MS } from '../../kernel/time.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { listTaskFolders } from '../../project/task-folders.ts'
import { runStatus } from '../../run/run-status.ts'
import { runFileOf } from '../../run/store/run-file.ts'
import { RUN_FINDINGS } from './doctor-messages.ts'
import { bad, type DoctorFinding, findUnwritable, good } from './project-findings.ts'

/** Finds runs without a run file, runs that do not move, and stalled ones. */

const PATIENCE_MS = 24 * HOUR_MS

export function checkRuns(root: string, nowMs: number): DoctorFinding[] {
  return listTaskFolders(root).folders.flatMap((folder) => findingFor(folder, nowMs) ?? [])
}

function findingFor(folder: TaskFolder, nowMs: number): DoctorFinding | undefined {
  const run = runStatus(folder)
  if (run === undefined) return undefined
  const { status, note, state } = run
  const command = (...words: string[]): string => commandLine([...words, taskWord(folder)], undefined)
  const resume = command('workflow', 'resume')
  // Doctor is for a person. Text for an agent never offers to end its run.
  const resumeOrAbort = RUN_FINDINGS.resumeOrAbort(resume, command('workflow', 'abort'))
  const wrong = (what: string, fix: string): DoctorFinding =>
    bad('workflow', RUN_FINDINGS.about(folder.relative, what), fix)
  if (status === 'unusable') return wrong(note, RUN_FINDINGS.repairState)
  if (state?.outcome === 'stalled' && !state.settled) return wrong(RUN_FINDINGS.stalled(note, state.why), resumeOrAbort)
  if (state === undefined || status !== 'running') return undefined
  if (runFileOf(folder, state.id) === undefined) return wrong(RUN_FINDINGS.noRunFile(note), resume)
  const unwritable = findUnwritable(folder, [WORKFLOW_FOLDER])
  if (unwritable !== undefined) return wrong(RUN_FINDINGS.blocked(note, unwritable.what), unwritable.fix)
  const age = nowMs - state.updatedMs
  return age > PATIENCE_MS
    ? wrong(RUN_FINDINGS.idle(note, formatAge(age)), resumeOrAbort)
    : good('workflow', RUN_FINDINGS.about(folder.relative, note))
}
