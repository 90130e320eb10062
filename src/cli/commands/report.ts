import fs from 'node:fs'
import path from 'node:path'
import { kindAt } from '../../disk/file-facts.ts'
import { withVerifiedFile } from '../../disk/verified-write.ts'
import { KIND_NAMES } from '../../kernel/error-messages.ts'
import { messageOf, PostflightError } from '../../kernel/errors.ts'
import { WORKFLOW_FOLDER } from '../../kernel/files.ts'
import { counted } from '../../kernel/text.ts'
import { toIso } from '../../kernel/time.ts'
import { viewMarkers } from '../../marker/marker-view.ts'
import { type CommandContext, displayPath, requireRoot, requireTaskFolder } from '../../project/command-context.ts'
import { allEntries } from '../../project/journal-entries.ts'
import type { JournalLine } from '../../project/journal-entry.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import { foldersHolding, listTaskFolders } from '../../project/task-folders.ts'
import { readHistory, readState } from '../../run/store/state-store.ts'
import { linkOutside } from '../../setup/settings-paths.ts'
import * as field from '../../views/documents.ts'
import { composeReport, type Report, storyLines } from '../../views/report/compose.ts'
import { reportPage } from '../../views/report/page/page.ts'
import { type ReportRun, STATUSES, type Status, type StoryEvent } from '../../views/report/story.ts'
import type { Declaration, Run } from '../command.ts'

export const declaration = {
  description: 'show what became of markers and runs, as text or as a single HTML page',
  examples: ['report --html report.html', 'report 259', 'report 259 --json'],
  declare: (command) =>
    command.argument('[task]', 'only this task').option('--html <file>', 'write the page to this file; "-" for stdout'),
} satisfies Declaration

export const document = () => {
  const status = field.oneOf(Object.keys(STATUSES) as Status[])
  const events = field.objects({ time: field.text('ISO 8601.'), words: field.text('What happened.') })
  const span = {
    standing: status,
    started_at: field.text('ISO 8601.'),
    ended_at: field.text('ISO 8601. The time of the report if it has not ended.'),
  }
  const marker = field.object({
    id: field.optionalText("The marker's id."),
    ...span,
    blocks: field.count('The number of stops that it blocked.'),
    waits: field.count('The number of times that its agent waited.'),
    events,
  })
  const run = field.object({
    name: field.text('Name of the workflow.'),
    ...span,
    prompts: field.count('The number of prompts sent.'),
    phases: field.objects({
      id: field.text("The phase's id."),
      standing: field.oneOf(['done', 'running', 'failed', 'skipped', 'waiting']),
      visits: field.count('The number of times it was entered.'),
      prompts: field.count('The number of prompts sent in it.'),
      duration_ms: field.count(
        'The time that the run worked on it, in ms: not while it is stopped or waits for approval.',
      ),
      steps: field.count('The number of steps of its last visit.'),
    }),
    events,
  })
  return field.object({
    root: field.text('The folder that holds specs/.'),
    file: field.optionalText('The page that was written.'),
    tasks: field.objects({ task: field.task, promises: field.list(marker), runs: field.list(run) }),
  })
}

export const run: Run<typeof declaration, typeof document> = (context, [task], { html }) => {
  const root = requireRoot(context)
  const only = task === undefined ? undefined : requireTaskFolder(context, task, 'story')
  const story = composeReport(sourceOf(context, root, only))
  if (html === '-') {
    const page = reportPage(story)
    return { data: documentOf(story, null), lines: [page.trimEnd()], essential: [page.trimEnd()] }
  }
  if (html === undefined) return { data: documentOf(story, null), lines: storyLines(story, context.paint) }
  const file = path.resolve(context.cwd, html)
  write(file, root, reportPage(story))
  return {
    data: documentOf(story, file),
    lines: [`wrote ${displayPath(context, file)}: ${counted(story.tasks.length, 'task')}`],
  }
}

function sourceOf(context: CommandContext, root: string, only: TaskFolder | undefined) {
  const { nowMs } = context
  const isWanted = (line: JournalLine): boolean => only === undefined || line.task === only.task
  const unreadable: JournalLine[] = []
  const folders = only === undefined ? listTaskFolders(root).folders : [only]
  const orReport = <T>(task: string, read: () => T): T | undefined => {
    try {
      return read()
    } catch (error) {
      unreadable.push({ event: 'error', time: toIso(nowMs), task, detail: messageOf(error) })
    }
  }
  const runs = foldersHolding(folders, WORKFLOW_FOLDER).flatMap((folder): ReportRun[] => {
    const { task } = folder
    const state = orReport(task, () => readState(folder))
    if (state === undefined) return []
    // The state has the last transitions.
    return [{ task, state, history: orReport(task, () => readHistory(folder, state)) ?? state.history }]
  })
  return {
    root,
    nowMs,
    journal: [...allEntries(context, root).entries.filter(isWanted), ...unreadable],
    markers: viewMarkers(root, nowMs, only).markers,
    runs,
  }
}

/** Refuses a link out of the project, because it may have come with a clone. */
function write(file: string, root: string, page: string): void {
  const outside = file.startsWith(root + path.sep) ? linkOutside(file, root) : undefined
  if (outside !== undefined) throw new PostflightError('cannot-write', outside)
  const kind = kindAt(file)
  if (kind !== undefined && kind !== 'file') {
    throw new PostflightError('cannot-write', { path: file, detail: KIND_NAMES[kind] })
  }
  withVerifiedFile(file, page, undefined, (temporary) => fs.renameSync(temporary, file))
}

function documentOf({ root, tasks }: Report, file: string | null) {
  const event = ({ timeMs, words }: StoryEvent) => ({ time: toIso(timeMs), words })
  const span = ({ status, startMs, endMs }: Report['tasks'][number]['markers' | 'runs'][number]) => {
    return { standing: status, started_at: toIso(startMs), ended_at: toIso(endMs) }
  }
  return {
    root,
    file,
    tasks: tasks.map(({ task, markers, runs }) => ({
      task,
      promises: markers.map((one) => ({
        id: one.id ?? null,
        ...span(one),
        blocks: one.blocks,
        waits: one.waits.length,
        events: one.events.map(event),
      })),
      runs: runs.map((one) => ({
        name: one.name,
        ...span(one),
        prompts: one.prompts,
        phases: one.phases.map(({ id, status, visits, prompts, workedMs, steps }) => ({
          id,
          standing: status,
          visits,
          prompts,
          duration_ms: workedMs,
          steps: steps.at(-1)?.steps.length ?? 0,
        })),
        events: one.events.map(event),
      })),
    })),
  }
}
