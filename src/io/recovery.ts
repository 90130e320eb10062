import path from 'node:path'
import { promisedAtMs } from '../core/decision.ts'
import { ABANDONED_FILE, MARKER_FILE } from '../core/files.ts'
import { composeRecovery, type Unfinished } from '../core/recovery.ts'
import { taskWord } from '../core/task-folder.ts'
import { inLine } from '../core/text.ts'
import { markerDisplayPath, readMarker } from './marker-file.ts'
import { isPast } from './process/age.ts'
import { foldersHolding, listTaskFolders } from './task-folders.ts'
import { isTrackedContent } from './tracked.ts'

/** Recovery (DESIGN section 5): what a session that starts is told of the postflights that nobody finished. Reads only. */

/** Who asks, and how long it may take. */
export interface RecoveryQuestion {
  readonly roots: readonly string[]
  /** The session that starts. */
  readonly session: string | undefined
  readonly nowMs: number
  /** When to go on with what there is, as an age of this process (ms); undefined: never. */
  readonly deadline?: number | undefined
  /** What a command that is printed must say of its root; undefined where it finds it by itself. */
  readonly rootOption: (root: string) => string | undefined
}

/** What to say, if anything, and what could not be looked at. */
export interface RecoveryAnswer {
  readonly text: string | undefined
  readonly complaints: readonly string[]
}

/** Lists pending and abandoned markers under the roots. */
export function findRecovery(question: RecoveryQuestion): RecoveryAnswer {
  const complaints: string[] = []
  const unfinished = question.roots.flatMap((root) => findUnfinished(root, question, complaints))
  return { text: composeRecovery(unfinished, question.session), complaints }
}

function findUnfinished(root: string, question: RecoveryQuestion, complaints: string[]): Unfinished[] {
  const { folders, problems } = listTaskFolders(root)
  const found = (fileName: string, state: Unfinished['state']): Unfinished[] =>
    foldersHolding(folders, fileName, problems).flatMap((folder) => {
      // Of tens of thousands it is enough to tell of those that there is time for.
      if (isPast(question.deadline)) return []
      const read = readMarker(folder, fileName)
      if (read?.kind === 'unreadable') complaints.push(unlisted(markerDisplayPath(folder, fileName), read.detail))
      // What a cloned repository brings along gets no word at the start of a session.
      if (read?.kind !== 'marker' || isTrackedContent(path.join(folder.path, fileName))) return []
      const ageMs = question.nowMs - promisedAtMs(read.marker, read.fileTimeMs, question.nowMs)
      return [
        { state, task: taskWord(folder), root, rootOption: question.rootOption(root), marker: read.marker, ageMs },
      ]
    })
  const unfinished = [...found(MARKER_FILE, 'pending'), ...found(ABANDONED_FILE, 'abandoned')]
  complaints.push(...problems.map((problem) => unlisted(problem.path, problem.detail)))
  return unfinished
}

function unlisted(path: string, detail: string): string {
  return `postflight-guard: ${inLine(path)}: what is unfinished there was not told (${detail})`
}
