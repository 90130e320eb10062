import path from 'node:path'
import { ALLOW } from '../core/answer.ts'
import { promisedAtMs } from '../core/decision.ts'
import { ABANDONED_FILE, MARKER_FILE } from '../core/files.ts'
import { composeRecovery, type Unfinished } from '../core/recovery.ts'
import { inLine } from '../core/text.ts'
import { markerDisplayPath, readMarker } from '../io/marker-store.ts'
import { processAgeMs } from '../io/process-age.ts'
import { foldersHolding, listTaskFolders, taskWord } from '../io/search.ts'
import { isTrackedContent } from '../io/tracked.ts'
import { type HookContext, type HookResult, rootOption } from './context.ts'

/** Recovery (DESIGN section 5): a session that starts is told of the postflights that nobody finished. */

/** Lists pending and abandoned markers under the context's roots. */
export function answerSessionStart(context: HookContext): HookResult {
  const complaints: string[] = []
  const unfinished = context.roots.flatMap((root) => findUnfinished(root, context, complaints))
  const text = composeRecovery(unfinished, context.payload.session)
  return {
    answer: text === undefined ? ALLOW : { kind: 'context', event: context.payload.event, context: text },
    recorded: [],
    complaints,
  }
}

function findUnfinished(root: string, context: HookContext, complaints: string[]): Unfinished[] {
  const { folders, problems } = listTaskFolders(root)
  const found = (fileName: string, state: Unfinished['state']): Unfinished[] =>
    foldersHolding(folders, fileName, problems).flatMap((folder) => {
      // Of tens of thousands it is enough to tell of those that there is time for.
      if (processAgeMs() > (context.deadline ?? Number.POSITIVE_INFINITY)) return []
      const read = readMarker(folder, fileName)
      if (read?.kind === 'unreadable') complaints.push(unlisted(markerDisplayPath(folder, fileName), read.detail))
      // What a cloned repository brings along gets no word at the start of a session.
      if (read?.kind !== 'marker' || isTrackedContent(path.join(folder.path, fileName))) return []
      const ageMs = context.nowMs - promisedAtMs(read.marker, read.fileTimeMs, context.nowMs)
      return [
        { state, task: taskWord(folder), root, rootOption: rootOption(context, root), marker: read.marker, ageMs },
      ]
    })
  const unfinished = [...found(MARKER_FILE, 'pending'), ...found(ABANDONED_FILE, 'abandoned')]
  complaints.push(...problems.map((problem) => unlisted(problem.path, problem.detail)))
  return unfinished
}

function unlisted(path: string, detail: string): string {
  return `postflight-guard: ${inLine(path)}: what is unfinished there was not told (${detail})`
}
