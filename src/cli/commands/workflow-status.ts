import * as z from 'zod/mini'
import { asPostflightError, errorMessage } from '../../kernel/errors.ts'
import { WORKFLOW_FOLDER } from '../../kernel/files.ts'
import { quote } from '../../kernel/text.ts'
import { type CommandContext, type CommandResult, requireRoot } from '../../project/command-context.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import { foldersHolding, listTaskFolders } from '../../project/task-folders.ts'
import { readState, requireState } from '../../run/store/state-store.ts'
import * as field from '../../views/documents.ts'
import { jsonText, processScreen } from '../../views/print.ts'
import { exitCodeOf, runDocument } from '../../views/run-view.ts'
import { type Declaration, type Result, RUN_EXIT_CODES, type Run, type Surroundings } from '../command.ts'
import { requireRunFolder, runResult } from '../runs.ts'

export const declaration = {
  free: true,
  description: 'show a run, or every run',
  examples: [
    'workflow status',
    'workflow status 259 --watch',
    'workflow status 259 --watch --quiet && echo it was completed',
  ],
  notes: [`${RUN_EXIT_CODES}\nWith several runs: 1 if that is true of any of them, or if one cannot be read.`],
  declare: (command) =>
    command
      .argument('[task]', 'only this task')
      .option(
        '--watch',
        'keep the output on screen and up to date; with a task, until its run has ended (or q, Ctrl-C)',
        false,
      ),
} satisfies Declaration

const runsDocument = () =>
  field.object({
    workflows: field.list(z.union([runDocument(), field.object({ task: field.task, error: field.errorDetail })])),
  })

/** With `--watch`, a document whenever it changes. */
export const document = () => z.union([runDocument(), runsDocument()])

export const run: Run<typeof declaration, typeof document> = async (context, [task], { watch }, surroundings) => {
  const { contextNow } = surroundings
  if (!watch) return status(context, task)
  const inspect = (): Result<typeof document> => statusOrWait(contextNow(), task)
  const { watchOnTerminal } = await import('../watch-option.ts')
  const over = (result: Result<typeof document>): boolean => task !== undefined && isOver(result)
  return (
    (await watchOnTerminal(surroundings, ['workflow status', task], inspect, over)) ??
    (await printChanges(inspect, surroundings))
  )
}

function status(context: CommandContext, task: string | undefined): Result<typeof document> {
  if (task !== undefined) {
    const folder = requireRunFolder(context, task)
    const state = requireState(folder)
    return { ...runResult(context, folder, state), exitCode: exitCodeOf(state) }
  }
  const folders = foldersHolding(listTaskFolders(requireRoot(context)).folders, WORKFLOW_FOLDER)
  const views = folders.map((folder) => viewOf(folder, context))
  const lines = views.flatMap((view) => view.lines)
  return {
    exitCode: views.some(({ exitCode }) => exitCode === 1) ? 1 : 0,
    data: { workflows: views.flatMap((view) => view.data) },
    lines: lines.length === 0 ? ['no workflows here'] : lines,
  }
}

/** One that cannot be read shows its error, so that it does not hide the others. */
function viewOf(
  folder: TaskFolder,
  context: CommandContext,
): CommandResult<field.DocumentOf<typeof runsDocument>['workflows']> {
  try {
    const state = readState(folder)
    if (state === undefined) return { data: [], lines: [] }
    const { data, lines } = runResult(context, folder, state)
    return { exitCode: exitCodeOf(state), data: [data], lines }
  } catch (error) {
    const { code, args } = asPostflightError(error)
    const message = errorMessage(code, args)
    const data = [{ task: folder.task, error: { code, message } }]
    return { exitCode: 1, data, lines: [`${context.paint.red('✗')} ${message}`] }
  }
}

const INTERVAL_MS = 500

/**
 * Without a terminal: prints the picture whenever it changes, until every run in it has ended, it is stopped, or the
 * reader is gone.
 */
async function printChanges(inspect: () => Result<typeof document>, { stdout, json, quiet }: Surroundings) {
  const screen = processScreen(stdout, json)
  let shown: string | undefined
  let result: Result<typeof document>
  do {
    result = inspect()
    const picture = JSON.stringify(result.data, (name, one: unknown) => (GROWING.includes(name) ? undefined : one))
    if (picture !== shown) {
      const text = json ? jsonText(result.data) : `${shown === undefined ? '' : '\n'}${result.lines.join('\n')}`
      if ((json || !quiet) && !screen.print(`${text}\n`)) return result.exitCode ?? 0
      shown = picture
    }
    if (isOver(result)) return result.exitCode ?? 0
  } while (await screen.pause(INTERVAL_MS))
  return result.exitCode ?? 0
}

const NOT_BEGUN: readonly string[] = ['root-none', 'task-unknown', 'workflow-none']

function statusOrWait(context: CommandContext, task?: string): Result<typeof document> {
  try {
    return status(context, task)
  } catch (error) {
    if (!NOT_BEGUN.includes(asPostflightError(error).code)) throw error
    const waits =
      task === undefined
        ? 'no workflows here yet'
        : `no workflow of task ${quote(task, 80)} yet: waiting until it starts`
    return { data: { workflows: [] }, lines: [waits] }
  }
}

const GROWING: readonly string[] = ['age_ms', 'duration_ms']

/** A run that cannot be read counts as ended. */
function isOver({ data }: Result<typeof document>): boolean {
  const runs = 'workflows' in data ? data.workflows : [data]
  return runs.length > 0 && runs.every((run) => !('active' in run) || !run.active)
}
