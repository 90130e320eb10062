import { formatAge, toIso } from '../../../kernel/time.ts'
import type { CommandContext, CommandResult } from '../../../project/command-context.ts'
import { phaseMs, visitsOf } from '../../../run/machine/state.ts'
import { readHistory, requireState } from '../../../run/store/state-store.ts'
import type { HistoryDocument } from '../../../views/documents/workflow/history.ts'
import { historyLine } from '../../../views/run-view.ts'
import { HISTORY_TEXT } from '../../../views/run-view-messages.ts'
import { requireRunFolder } from '../../workflow/run-folder.ts'

/** `postflight workflow history`: prints every transition of a run. */
export function history(context: CommandContext, task: string): CommandResult<HistoryDocument> {
  const folder = requireRunFolder(context, task)
  const state = requireState(folder)
  const entries = readHistory(folder, state)
  const entered = state.definition.phases.filter(({ id }) => visitsOf(state, id) > 0)
  const durations = entered.map(({ id }) => [id, phaseMs(state, id, context.nowMs)] as const)
  return {
    exitCode: 0,
    data: {
      task: folder.task,
      history: entries.map(({ n, timeMs, ...transition }) => ({ n, time: toIso(timeMs), ...transition })),
      durations: Object.fromEntries(durations),
    },
    lines: [...entries.map(historyLine), ...durations.map(([id, ms]) => HISTORY_TEXT.duration(id, formatAge(ms)))],
  }
}
