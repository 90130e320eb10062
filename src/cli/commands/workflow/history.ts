import { HISTORY_TEXT } from '../../../core/messages/workflow-commands.ts'
import { formatAge, toIso } from '../../../core/time.ts'
import { phaseMs } from '../../../core/workflow/clock.ts'
import { visitsOf } from '../../../core/workflow/state.ts'
import { readHistory, requireState } from '../../../io/workflow/state-store.ts'
import type { CommandContext, CommandResult } from '../../context.ts'
import type { HistoryDocument } from '../../documents/workflow/history.ts'
import { requireRunFolder } from '../../workflow/run-folder.ts'
import { historyLine } from '../../workflow/view.ts'

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
