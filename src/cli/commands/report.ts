import fs from 'node:fs'
import path from 'node:path'
import { kindAt } from '../../disk/path-kind.ts'
import { withVerifiedFile } from '../../disk/verified-write.ts'
import { messageOf } from '../../kernel/error-messages.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { KIND_NAMES } from '../../kernel/file-messages.ts'
import { WORKFLOW_FOLDER } from '../../kernel/files.ts'
import { fromIso, toIso } from '../../kernel/time.ts'
import { type MarkerView, viewMarkers } from '../../marker/marker-view.ts'
import {
  type CommandContext,
  type CommandResult,
  displayPath,
  requireRoot,
  requireTaskFolder,
} from '../../project/command-context.ts'
import { allEntries } from '../../project/journal-entries.ts'
import type { JournalLine } from '../../project/journal-entry.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import { foldersHolding, listTaskFolders } from '../../project/task-folders.ts'
import { readHistory, readState } from '../../run/store/state-store.ts'
import { linkOutside } from '../../setup/settings-paths.ts'
import type { ReportDocument } from '../../views/documents/report.ts'
import type { Painter } from '../../views/print.ts'
import { composeReport } from '../../views/report/compose.ts'
import { reportPage } from '../../views/report/page/page.ts'
import type { Report, ReportMarker, ReportRun } from '../../views/report/report.ts'
import { REPORT_TEXT as TEXT } from '../../views/report/report-messages.ts'
import { storyLines } from '../../views/report/report-text.ts'

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
