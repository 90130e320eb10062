import { asPostflightError, errorMessage } from '../../../kernel/error-messages.ts'
import { WORKFLOW_FOLDER } from '../../../kernel/files.ts'
import { type CommandContext, type CommandResult, requireRoot } from '../../../project/command-context.ts'
import type { TaskFolder } from '../../../project/task-folder.ts'
import { foldersHolding, listTaskFolders } from '../../../project/task-folders.ts'
import { STATUS_TEXT } from '../../../run/run-messages.ts'
import { readState, requireState } from '../../../run/store/state-store.ts'
import type { RunsDocument, StatusDocument } from '../../../views/documents/workflow/status.ts'
import type { Painter } from '../../../views/print.ts'
import { exitCodeOf, runData, runLines } from '../../../views/run-view.ts'
import { requireRunFolder } from '../../workflow/run-folder.ts'
import { runResult } from '../../workflow/run-result.ts'

/** `postflight workflow status`: shows one run, or every run of the project. */
export function status(
  context: CommandContext,
  paint: Painter,
  task: string | undefined,
): CommandResult<StatusDocument> {
  if (task !== undefined) {
    const folder = requireRunFolder(context, task)
    const state = requireState(folder)
    return { ...runResult(context, paint, folder, state), exitCode: exitCodeOf(state) }
  }
  const folders = foldersHolding(listTaskFolders(requireRoot(context)).folders, WORKFLOW_FOLDER)
  const views = folders.map((folder) => viewOf(folder, context, paint))
  const lines = views.flatMap((view) => view.lines)
  return {
    exitCode: views.some(({ exitCode }) => exitCode !== 0) ? 1 : 0,
    data: { workflows: views.flatMap((view) => view.data) },
    lines: lines.length === 0 ? [STATUS_TEXT.noRuns] : lines,
  }
}

/** A run in the list of all runs. */
interface ListedRun {
  readonly exitCode: 0 | 1
  readonly data: RunsDocument['workflows']
  readonly lines: readonly string[]
}

/** The view of a folder's run. One that cannot be read shows its error, so that it does not hide the others. */
function viewOf(folder: TaskFolder, context: CommandContext, paint: Painter): ListedRun {
  try {
    const state = readState(folder)
    if (state === undefined) return { exitCode: 0, data: [], lines: [] }
    return {
      exitCode: exitCodeOf(state),
      data: [runData(folder, state, context.nowMs)],
      lines: runLines(folder, state, context.nowMs, paint),
    }
  } catch (error) {
    const { code, args } = asPostflightError(error)
    const message = errorMessage(code, args)
    const data = [{ task: folder.task, error: { code, message } }]
    return { exitCode: 1, data, lines: [`${paint.red('✗')} ${message}`] }
  }
}
