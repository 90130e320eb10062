import { toIso } from '../../../core/time.ts'
import { readHistory, requireState } from '../../../io/workflow/state-store.ts'
import { type CommandContext, type CommandResult, requireRoot, requireTaskFolder } from '../../context.ts'
import type { HistoryDocument } from '../../documents/workflow/history.ts'
import { refuseLostRun } from '../../workflow/lost-run.ts'
import { historyLine } from '../../workflow/view.ts'

/** `postflight workflow history`: prints every transition of a run. */
export function history(context: CommandContext, task: string): CommandResult<HistoryDocument> {
  refuseLostRun(context, task)
  const folder = requireTaskFolder(requireRoot(context), task, 'workflow')
  const entries = readHistory(folder, requireState(folder))
  return {
    exitCode: 0,
    data: {
      task: folder.task,
      history: entries.map(({ n, timeMs, ...transition }) => ({ n, time: toIso(timeMs), ...transition })),
    },
    lines: entries.map(historyLine),
  }
}
