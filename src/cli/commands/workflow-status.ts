import * as z from 'zod/mini'
import { asPostflightError, errorMessage } from '../../kernel/errors.ts'
import { WORKFLOW_FOLDER } from '../../kernel/files.ts'
import { quote } from '../../kernel/text.ts'
import { type CommandContext, requireRoot } from '../../project/command-context.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import { foldersHolding, listTaskFolders } from '../../project/task-folders.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import { readState, requireState } from '../../run/store/state-store.ts'
import * as field from '../../views/documents.ts'
import { runDocument, runExitCode } from '../../views/run-view.ts'
import { type Declaration, type Result, RUN_EXIT_CODES, type Run } from '../command.ts'
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

/** With `--watch`, a document whenever it changes. */
export const document = () => {
  const unreadable = field.object({ task: field.task, error: field.errorDetail })
  return z.union([runDocument(), field.object({ workflows: field.list(z.union([runDocument(), unreadable])) })])
}

const NOT_BEGUN: readonly string[] = ['root-none', 'task-unknown', 'workflow-none']

export const run: Run<typeof declaration, typeof document> = (context, [task], { watch }) => {
  try {
    if (task === undefined) return statusOfAll(context)
    const folder = requireRunFolder(context, task)
    return viewOf(context, folder, requireState(folder))
  } catch (error) {
    if (!watch || !NOT_BEGUN.includes(asPostflightError(error).code)) throw error
    const waits =
      task === undefined
        ? 'no workflows here yet'
        : `no workflow of task ${quote(task, 80)} yet: waiting until it starts`
    return { data: { workflows: [] }, lines: [waits], isOver: false }
  }
}

function viewOf(context: CommandContext, folder: TaskFolder, state: WorkflowState) {
  return { ...runResult(context, folder, state), exitCode: runExitCode(state), isOver: !state.active }
}

/** An unreadable run shows its error and does not hide the others. It counts as ended. */
function statusOfAll(context: CommandContext): Result<typeof document> {
  const folders = foldersHolding(listTaskFolders(requireRoot(context)).folders, WORKFLOW_FOLDER)
  const views = folders.flatMap((folder) => {
    try {
      const state = readState(folder)
      return state === undefined ? [] : viewOf(context, folder, state)
    } catch (error) {
      const { code, args } = asPostflightError(error)
      const message = errorMessage(code, args)
      const data = { task: folder.task, error: { code, message } }
      return { exitCode: 1, data, lines: [`${context.paint.red('✗')} ${message}`], isOver: true }
    }
  })
  return {
    exitCode: views.some(({ exitCode }) => exitCode === 1) ? 1 : 0,
    data: { workflows: views.map(({ data }) => data) },
    lines: views.length === 0 ? ['no workflows here'] : views.flatMap(({ lines }) => lines),
    isOver: views.length > 0 && views.every(({ isOver }) => isOver),
  }
}
