import path from 'node:path'
import { WORKFLOW_FOLDER } from '../../core/files.ts'
import { unsearchable } from '../../core/messages/files.ts'
import { PROJECT_STATUS_TEXT } from '../../core/messages/status.ts'
import type { SearchProblem } from '../../core/task-folder.ts'
import { inLine } from '../../core/text.ts'
import { foldersHolding, listTaskFolders } from '../../io/task-folders.ts'
import { type CommandContext, type CommandResult, findCommandRoot } from '../context.ts'
import type { ProjectStatusDocument } from '../documents/status.ts'
import { viewMarkers } from '../marker-view.ts'
import { checkIds } from '../option-values.ts'
import type { Painter } from '../painter.ts'
import { annotation } from '../status/github.ts'
import { markerItem } from '../status/marker-item.ts'
import { lostRunItem, runItem } from '../status/run-item.ts'
import type { StatusItem } from '../status/status-item.ts'
import { lostRuns } from '../workflow/lost-run.ts'

/**
 * `postflight status`, and `postflight` alone: shows what is unfinished in the project, and what to do about it. It
 * reads files, but never the journal. With `--exit-code` it is a verdict for CI.
 */

export interface ProjectStatusOptions {
  readonly exitCode: boolean
  readonly github: boolean
  readonly session?: string
}

export function projectStatus(
  context: CommandContext,
  paint: Painter,
  options: ProjectStatusOptions,
): CommandResult<ProjectStatusDocument> {
  checkIds([['--session', options.session]])
  const root = findCommandRoot(context)
  const { all, completed } = root === undefined ? { all: [], completed: 0 } : itemsOf(context, root)
  const lost = lostRuns(context).map((run) => lostRunItem(run, context.nowMs, context.rootOption))
  const items = [...all, ...lost].filter((item) => isOf(item, options.session))
  const clean = items.length === 0
  return {
    exitCode: options.exitCode && !clean ? 1 : 0,
    data: { root: root ?? null, clean, completed, items },
    lines: clean ? [cleanLine(root, completed, options.session)] : linesOf(items, options.github, paint),
    // An annotation is for a program.
    essential: options.github && !clean ? linesOf(items, true, paint) : [],
  }
}

function itemsOf(context: CommandContext, root: string): { readonly all: StatusItem[]; readonly completed: number } {
  const { markers, problems } = viewMarkers(root, context.nowMs)
  const { rootOption, nowMs } = context
  const runs = foldersHolding(listTaskFolders(root).folders, WORKFLOW_FOLDER).flatMap(
    (folder) => runItem(folder, nowMs, rootOption) ?? [],
  )
  const items = runs.filter((run) => run !== 'completed')
  return {
    all: [
      ...markers.map((view) => markerItem(view, rootOption)),
      ...items,
      ...problems.map((problem) => unsearched(root, problem)),
    ],
    completed: runs.length - items.length,
  }
}

function unsearched(root: string, problem: SearchProblem): StatusItem {
  const message = inLine(unsearchable(problem.path, problem.detail))
  const relative = inLine(path.relative(root, problem.path))
  return { kind: 'unsearched', task: null, path: relative, host_session: null, message, fix: null }
}

/** True for an item of the session, and for an unreadable one, which may belong to any session. */
function isOf({ kind, host_session }: StatusItem, session: string | undefined): boolean {
  if (session === undefined || host_session === session) return true
  return kind === 'unreadable' || kind === 'unusable' || kind === 'unsearched'
}

function cleanLine(root: string | undefined, completed: number, session: string | undefined): string {
  if (root === undefined) return PROJECT_STATUS_TEXT.noSpecs
  return session === undefined
    ? PROJECT_STATUS_TEXT.clean(root, completed)
    : PROJECT_STATUS_TEXT.cleanOfSession(session)
}

const GOES_ON: readonly StatusItem['kind'][] = ['pending', 'waiting', 'running', 'bypassed']

function linesOf(items: readonly StatusItem[], isForGithub: boolean, paint: Painter): string[] {
  if (isForGithub) return items.map(annotation)
  return items.flatMap(({ kind, message, fix }) => [
    `${GOES_ON.includes(kind) ? paint.yellow('●') : paint.red('✗')} ${message}`,
    ...(fix === null ? [] : [PROJECT_STATUS_TEXT.fix(fix)]),
  ])
}
