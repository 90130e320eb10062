import { commandLine } from '../../kernel/command-line.ts'
import { inLine, quote } from '../../kernel/text.ts'
import { type CommandContext, recordInJournal } from '../../project/command-context.ts'
import { runCommandLine, type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { needOf } from '../../run/machine/position.ts'
import { settleState } from '../../run/machine/steering.ts'
import { runStatus } from '../../run/store/active-runs.ts'
import { steer } from '../../run/store/run.ts'

/**
 * Accepts the ended run of a folder, if any. The session that ran it cannot: an agent that clears its marker would
 * accept its own failure. An aborted run does not count anyway. `status` reports an unreadable state.
 */
export function settleEnded(context: CommandContext, folder: TaskFolder, isDryRun: boolean) {
  const state = runStatus(folder)?.state
  if (state === undefined || settleState(state) === state) return undefined
  const { task, relative: path } = folder
  const { hostSession, outcome = 'stopped' } = state
  const workflow = `workflow "${quote(state.name, 80)}" (${outcome})`
  if (context.session !== undefined && context.session === hostSession && outcome !== 'aborted') {
    const clear = commandLine(['clear', taskWord(folder)], context.rootOption)
    const why = 'because the session that ran it cannot accept its end'
    const line = `${inLine(path)}: status still lists its ${workflow}, ${why}. In a terminal: ${clear}`
    return { data: undefined, line }
  }
  if (!isDryRun) {
    steer(folder, context.nowMs, settleState, () => false)
    const detail = `settled the ${workflow}`
    recordInJournal(context, folder, { event: 'clear', hostSession: context.session, settles: [], detail })
  }
  const resume = needOf(state).kind === 'resume' ? runCommandLine(folder, 'resume', context.rootOption) : null
  const verb = isDryRun ? 'would settle' : 'settled'
  const more = resume === null ? '' : `; to continue it: ${resume}`
  return {
    data: { task, path, outcome, resume },
    line: `${verb} ${inLine(path)}: status no longer lists its ${workflow}${more}`,
  }
}
