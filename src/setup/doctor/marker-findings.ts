import path from 'node:path'
import fastGlob from 'fast-glob'
import { commandLine } from '../../kernel/command-line.ts'
import { unsearchable } from '../../kernel/file-messages.ts'
import { CLAIMS_FOLDER, MARKER_FILE, SPECS_FOLDER } from '../../kernel/files.ts'
import { formatAge, HOUR_MS } from '../../kernel/time.ts'
import { INSPECT_TEXT } from '../../marker/check-messages.ts'
import { type MarkerView, unparsedFaults, viewMarkers } from '../../marker/marker-view.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { listTaskFolders } from '../../project/task-folders.ts'
import { MARKER_FINDINGS } from './doctor-messages.ts'
import { bad, type DoctorFinding, good } from './finding.ts'
import { findUnwritable } from './writable.ts'

/** Checks markers: finds those that will never be cleared, and those that never block a stop. */

/** A marker that is pending for longer than this (ms) was forgotten. */
const LONG_MS = 24 * HOUR_MS

/** Checks every marker of a root. Reports unreadable folders too. */
export function checkMarkers(context: CommandContext, root: string): DoctorFinding[] {
  const { markers, problems } = viewMarkers(root, context.nowMs)
  const undecodable = listTaskFolders(root).undecodable.map((folder) => ({
    path: folder,
    detail: MARKER_FINDINGS.notUtf8,
  }))
  const unsearched = [...problems, ...undecodable].map((problem) =>
    bad('marker', unsearchable(problem.path, problem.detail), MARKER_FINDINGS.fixFolder),
  )
  const found = markers.map((view) => {
    const name = view.relative_path
    const clear = commandLine(['clear', view.task], undefined)
    const adoptOrClear = MARKER_FINDINGS.adoptOrClear(commandLine(['adopt', view.task], undefined), clear)
    const age = formatAge(view.age_ms ?? 0)
    const unreadable = MARKER_FINDINGS.unreadable(name, view.problems)
    const isBroken = unparsedFaults(view) !== undefined
    if (view.state === 'unreadable' && !isBroken) return bad('marker', unreadable, MARKER_FINDINGS.removeByHand)
    if (view.outcome === 'unchecked') return bad('marker', MARKER_FINDINGS.unchecked(name), adoptOrClear)
    if (view.state === 'abandoned') return bad('marker', MARKER_FINDINGS.abandoned(name), adoptOrClear)
    if (view.state === 'expired') return bad('marker', MARKER_FINDINGS.expired(name, age), clear)
    const isPending = view.state === 'pending' || isBroken
    if (isPending && view.continuations.spent === null) {
      return bad('marker', unreadable, MARKER_FINDINGS.repairCount)
    }
    const faults = view.problems.filter((problem) => problem !== INSPECT_TEXT.unowned)
    if (isPending && faults.length > 0) {
      return bad('marker', MARKER_FINDINGS.unparsed(name, faults), MARKER_FINDINGS.repairOrClear(clear))
    }
    const unwritable = view.state === 'pending' ? unwritableFor(view) : undefined
    if (unwritable !== undefined) {
      return bad('marker', MARKER_FINDINGS.uncountable(name, unwritable.what), unwritable.fix)
    }
    if (view.state === 'bypassed') return good('marker', MARKER_FINDINGS.bypassed(name))
    if ((view.age_ms ?? 0) > LONG_MS) return bad('marker', MARKER_FINDINGS.old(name, age), adoptOrClear)
    return good('marker', MARKER_FINDINGS.pending(name, view.problems))
  })
  return [...unsearched, ...found]
}

/** The first folder of a marker that cannot be written: a stop is counted there before it is blocked. */
function unwritableFor(view: MarkerView): ReturnType<typeof findUnwritable> {
  const folder = { path: path.dirname(view.path), relative: path.posix.dirname(view.relative_path) }
  return findUnwritable(folder, [CLAIMS_FOLDER])
}

/** At most this many stray markers are listed. */
const MAX_STRAYS = 20

/** Finds markers where the hook does not look, so that they never block a stop. */
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
      bad('marker', MARKER_FINDINGS.stray(path.relative(root, file)), MARKER_FINDINGS.moveStray(SPECS_FOLDER)),
    )
}
