import { errorCode, isFull } from '../../disk/file-facts.ts'
import { bypassDone, bypassNewSessions, sessionFolders } from '../../done/done-state.ts'
import { hasDoneFile, readTrusted } from '../../done/trust-store.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { MARKER_FILE } from '../../kernel/files.ts'
import { forEveryOne } from '../../kernel/values.ts'
import { DEFAULT_REASON, type Marker } from '../../marker/marker.ts'
import { changeMarker } from '../../marker/marker-store.ts'
import { markerDisplayPath } from '../../marker/stored-marker.ts'
import { type CommandContext, recordInJournal, requireRoot, requireTaskFolder } from '../../project/command-context.ts'
import { runCommandLine, type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { findTaskFolder, foldersHolding, listTaskFolders, unsearchedError } from '../../project/task-folders.ts'
import * as field from '../../views/documents.ts'
import { endWithFailures } from '../../views/print.ts'
import { type Declaration, type Run, refuseOptionAsTask, requireOneTarget } from '../command.ts'

/** `--all` also stops every active run, because a run would block the next stop with its next prompt. */

export const declaration = {
  description: 'allow the next stop of any agent (emergency)',
  examples: ['bypass 259', 'bypass --all'],
  declare: (command) =>
    command
      .argument('[task]', 'task number or folder name; "." for specs/ itself')
      .option('--all', 'every marker; also stop every workflow (`workflow resume` continues it)', false),
} satisfies Declaration

export const document = () =>
  field.object({
    bypassed: field.objects({
      task: field.task,
      path: field.text("The marker's path, relative to the root."),
      marker_id: field.optionalText("The marker's id."),
    }),
    stopped: field.objects({
      task: field.task,
      path: field.text('The task folder of a workflow that was stopped, relative to the root.'),
      resume: field.text('The command that continues it.'),
    }),
  })

export const run: Run<typeof declaration, typeof document> = async (context, [task], options, surroundings) => {
  requireOneTarget(task, { all: options.all })
  const root = requireRoot(context)
  const { folders, problems } =
    task === undefined ? everyMarker(root) : { folders: [taskFolderOf(context, root, task)], problems: [] }
  const failures: unknown[] = []
  const done = forEveryOne(folders, failures, (folder) => {
    const marker = bypassMarker(context, folder)
    if (marker === undefined) {
      if (task === undefined) return []
      throw new PostflightError('bypass-none', { folder: folder.relative })
    }
    recordInJournal(context, folder, { event: 'bypass-request', markerId: marker.id })
    return { task: folder.task, path: markerDisplayPath(folder), marker_id: marker.id ?? null }
  })
  const trusted = task === undefined && hasDoneFile(root) ? readTrusted(root, context) : undefined
  const failedBefore = failures.length
  if (task === undefined) forEveryOne(sessionFolders(root), failures, bypassDone)
  if (trusted !== undefined) forEveryOne([trusted], failures, (copy) => bypassNewSessions(root, copy))
  const isDoneBypassed = trusted !== undefined && failures.length === failedBefore
  const stopped = task === undefined ? await stopRuns(context, root, failures) : []
  const lines = [
    ...(isDoneBypassed ? ['specs/done.yaml: the next stop of each session goes through'] : []),
    ...done.map(({ path }) => `${path}: the next stop goes through and removes it`),
    ...stopped.map(({ path, resume }) => `${path}: the workflow was stopped; to continue it: ${resume}`),
  ]
  endWithFailures([...failures, ...problems.map(unsearchedError)], lines, surroundings)
  return {
    data: { bypassed: done, stopped },
    lines: lines.length === 0 ? ['nothing to bypass: no markers and no active workflows'] : lines,
  }
}

async function stopRuns(context: CommandContext, root: string, failures: unknown[]) {
  const { nowMs, rootOption } = context
  const { listActiveRuns } = await import('../../run/store/active-runs.ts')
  const { stopRunNow } = await import('../../run/store/run.ts')
  return forEveryOne(listActiveRuns(root, nowMs), failures, ({ folder, hostSession }) => {
    stopRunNow(folder, nowMs)
    recordInJournal(context, folder, { event: 'workflow', hostSession, detail: 'stopped' })
    const resume = runCommandLine(folder, 'resume', rootOption)
    return { task: folder.task, path: folder.relative, resume }
  })
}

function taskFolderOf(context: CommandContext, root: string, task: string): TaskFolder {
  if (findTaskFolder(root, task, context.session) === undefined) refuseOptionAsTask(task, ['all'])
  return requireTaskFolder(context, task)
}

function bypassMarker(context: CommandContext, folder: TaskFolder): Marker | undefined {
  try {
    return changeMarker(
      folder,
      ({ fields }) => ({ fields: { ...(fields === undefined && { reason: DEFAULT_REASON }), stop_hook_active: true } }),
      { replaceUnparsed: true },
    ).marker
  } catch (error) {
    if (error instanceof PostflightError && error.code === 'marker-none') return undefined
    if (!isFull(error)) throw error
    const clear = commandLine(['clear', taskWord(folder)], context.rootOption)
    throw new PostflightError('bypass-no-room', { path: folder.relative, detail: errorCode(error), clear }, error)
  }
}

function everyMarker(root: string) {
  const { folders, problems } = listTaskFolders(root)
  return { folders: foldersHolding(folders, MARKER_FILE, problems), problems }
}
