import fs from 'node:fs'
import path from 'node:path'
import { PostflightError } from '../../core/errors.ts'
import { WORKFLOW_FOLDER } from '../../core/files.ts'
import type { JournalLine } from '../../core/journal-entry.ts'
import { KIND_NAMES } from '../../core/messages/files.ts'
import { REPORT_TEXT as TEXT } from '../../core/messages/report.ts'
import { composeReport } from '../../core/report/compose.ts'
import { reportPage } from '../../core/report/page/page.ts'
import type { Report, ReportMarker, ReportRun } from '../../core/report/report.ts'
import { storyLines } from '../../core/report/text.ts'
import type { TaskFolder } from '../../core/task-folder.ts'
import { fromIso, toIso } from '../../core/time.ts'
import { kindAt } from '../../io/fs/path-kind.ts'
import { withVerifiedFile } from '../../io/fs/verified-write.ts'
import { linkOutside } from '../../io/settings/paths.ts'
import { foldersHolding, listTaskFolders } from '../../io/task-folders.ts'
import { readHistory, readState } from '../../io/workflow/state-store.ts'
import { type CommandContext, type CommandResult, displayPath, requireRoot, requireTaskFolder } from '../context.ts'
import type { ReportDocument } from '../documents/report.ts'
import { allEntries } from '../journal-entries.ts'
import { type MarkerView, viewMarkers } from '../marker-view.ts'
import type { Painter } from '../painter.ts'
import { messageOf } from '../print.ts'

/** `postflight report`: the story of markers and runs, as text or as a single HTML page. */

export interface ReportOptions {
  readonly html?: string
}

/** `--html -`: the page goes to stdout. */
const STDOUT = '-'

export function report(
  context: CommandContext,
  paint: Painter,
  task: string | undefined,
  { html }: ReportOptions,
): CommandResult<ReportDocument> {
  const root = requireRoot(context)
  const only = task === undefined ? undefined : requireTaskFolder(root, task, 'story')
  const story = composeReport(sourceOf(context, root, only))
  if (html === STDOUT) {
    const page = reportPage(story)
    return { exitCode: 0, data: documentOf(story, null), lines: [page.trimEnd()], essential: [page.trimEnd()] }
  }
  if (html === undefined) return { exitCode: 0, data: documentOf(story, null), lines: storyLines(story, paint) }
  const file = path.resolve(context.cwd, html)
  write(file, root, reportPage(story))
  return {
    exitCode: 0,
    data: documentOf(story, file),
    lines: [TEXT.written(displayPath(context, file), story.tasks.length)],
  }
}

function sourceOf(context: CommandContext, root: string, only: TaskFolder | undefined) {
  const { nowMs } = context
  const isWanted = (line: JournalLine): boolean => only === undefined || line.task === only.task
  const unreadable: JournalLine[] = []
  const folders = only === undefined ? listTaskFolders(root).folders : [only]
  const runs = foldersHolding(folders, WORKFLOW_FOLDER).flatMap((folder): ReportRun[] => {
    try {
      const state = readState(folder)
      return state === undefined ? [] : [{ task: folder.task, state, history: readHistory(folder, state) }]
    } catch (error) {
      const detail = messageOf(error)
      unreadable.push({ event: 'error', time: toIso(nowMs), task: folder.task, detail })
      return []
    }
  })
  return {
    root,
    nowMs,
    journal: [...allEntries(context, root).entries.filter(isWanted), ...unreadable],
    markers: viewMarkers(root, nowMs, only).markers.map(markerOf),
    runs,
  }
}

function markerOf(view: MarkerView): ReportMarker {
  return {
    task: view.task,
    id: view.id ?? undefined,
    state: view.outcome === 'unchecked' ? 'unchecked' : view.state,
    operation: view.operation ?? undefined,
    skill: view.skill ?? undefined,
    promisedMs: view.promised_at === null ? undefined : fromIso(view.promised_at),
    waitsFor: view.wait?.for,
    steps: view.steps,
    checks: view.checks.map(({ run, failed }) => ({ run, failed: failed ?? undefined })),
  }
}

/**
 * @throws {PostflightError} `cannot-write` when something else than a file lies there, or when the path leads through a
 * link of the project out of it, which may have come with a clone; file-system errors.
 */
function write(file: string, root: string, page: string): void {
  const outside = file.startsWith(root + path.sep) ? linkOutside(file, root) : undefined
  if (outside !== undefined) throw new PostflightError('cannot-write', outside)
  const kind = kindAt(file)
  if (kind !== undefined && kind !== 'file') {
    throw new PostflightError('cannot-write', { path: file, detail: KIND_NAMES[kind] })
  }
  withVerifiedFile(file, page, undefined, (temporary) => fs.renameSync(temporary, file))
}

function documentOf({ root, tasks }: Report, file: string | null): ReportDocument {
  const event = ({ timeMs, words }: { readonly timeMs: number; readonly words: string }) => ({
    time: toIso(timeMs),
    words,
  })
  return {
    root,
    file,
    tasks: tasks.map(({ task, promises, runs }) => ({
      task,
      promises: promises.map((one) => ({
        id: one.id ?? null,
        standing: one.standing,
        started_at: toIso(one.startMs),
        ended_at: toIso(one.endMs),
        blocks: one.blocks,
        waits: one.waits.length,
        events: one.events.map(event),
      })),
      runs: runs.map((one) => ({
        name: one.name,
        standing: one.standing,
        started_at: toIso(one.startMs),
        ended_at: toIso(one.endMs),
        prompts: one.prompts,
        phases: one.phases.map(({ id, standing, visits, prompts, workedMs, steps }) => ({
          ...{ id, standing, visits, prompts, duration_ms: workedMs, steps: steps.at(-1)?.steps.length ?? 0 },
        })),
        events: one.events.map(event),
      })),
    })),
  }
}
