import path from 'node:path'
import fastGlob from 'fast-glob'
import { commandLine } from '../../core/command-line.ts'
import { CLAIMS_FOLDER, MARKER_FILE, SPECS_FOLDER } from '../../core/files.ts'
import { unsearchable } from '../../core/messages/files.ts'
import { formatAge, HOUR_MS } from '../../core/time.ts'
import { listTaskFolders } from '../../io/task-folders.ts'
import type { CommandContext } from '../context.ts'
import { type MarkerView, viewMarkers } from '../marker-view.ts'
import { bad, type DoctorFinding, good } from './finding.ts'
import { findUnwritable } from './writable.ts'

/** What can be wrong with markers: one that will never be cleared, and one that never holds anybody. */

/** A promise that is pending for longer than this (ms) was forgotten. */
const LONG_MS = 24 * HOUR_MS

/** Every marker of a root, except those of workflows, which are looked at with their runs; and what cannot be searched. */
export function checkMarkers(context: CommandContext, root: string): DoctorFinding[] {
  const { markers, problems } = viewMarkers(root, context.nowMs)
  const unsearched = problems.map((problem) =>
    bad('marker', unsearchable(problem.path, problem.detail), 'mend its rights, or move it away'),
  )
  // A workflow's is looked at with its run.
  const found = markers
    .filter((view) => view.run === null)
    .flatMap((view) => {
      const name = view.relative_path
      const clear = commandLine(['clear', view.task], undefined)
      const adopt = commandLine(['adopt', view.task], undefined)
      if (view.state === 'unreadable')
        return [bad('marker', `${name} ${view.problems.join(', ')}`, 'look at it and remove it by hand')]
      if (view.state === 'abandoned')
        return [bad('marker', `${name}: a postflight that was never done`, `${adopt}, or ${clear}`)]
      if (view.state === 'expired')
        return [bad('marker', `${name}: unowned and ${formatAge(view.age_ms ?? 0)} old, holds nobody`, clear)]
      if (view.state === 'pending' && view.continuations.spent === null)
        return [
          bad(
            'marker',
            `${name} ${view.problems.join(', ')}`,
            'mend or remove that by hand: until then it holds nobody',
          ),
        ]
      const unwritable = view.state === 'pending' ? unwritableFor(view) : undefined
      if (unwritable !== undefined)
        return [bad('marker', `${name}: pending, but ${unwritable.what}: it holds nobody`, unwritable.fix)]
      if (view.state === 'bypassed') return [good('marker', `${name}: goes at the next stop`)]
      if ((view.age_ms ?? 0) > LONG_MS)
        return [bad('marker', `${name}: pending for ${formatAge(view.age_ms ?? 0)}`, `${adopt}, or ${clear}`)]
      return [good('marker', [`${name}: pending`, ...view.problems].join(', '))]
    })
  return [...unsearched, ...found]
}

/** Before a stop is held it is counted, in these folders. */
function unwritableFor(view: MarkerView): ReturnType<typeof findUnwritable> {
  const folder = { path: path.dirname(view.path), relative: path.posix.dirname(view.relative_path) }
  return findUnwritable(folder, [CLAIMS_FOLDER])
}

/** More stray markers than this are not listed. */
const MAX_STRAYS = 20

/** Markers where the hook does not look: nobody would ever be held by them. */
export async function checkStrays(root: string): Promise<DoctorFinding[]> {
  const searched = new Set(listTaskFolders(root).folders.map((folder) => path.join(folder.path, MARKER_FILE)))
  const found = await fastGlob(`**/${MARKER_FILE}`, {
    cwd: root,
    dot: true,
    absolute: true,
    followSymbolicLinks: false,
    suppressErrors: true,
    ignore: ['**/node_modules/**', '**/.git/**', '**/.claude/worktrees/**'],
    deep: 8,
  })
  return found
    .map((file) => path.normalize(file))
    .filter((file) => !searched.has(file))
    .slice(0, MAX_STRAYS)
    .map((file) =>
      bad(
        'marker',
        `${path.relative(root, file)} lies where the hook does not look`,
        `it belongs in ${SPECS_FOLDER}/NNN_slug/: move or remove it`,
      ),
    )
}
