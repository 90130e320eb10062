import { shellIdentity } from '../../hosts/all-hosts.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { type CommandContext, recordInJournal } from '../../project/command-context.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { settleState } from '../../run/machine/control.ts'
import { needOf } from '../../run/machine/position.ts'
import { runStatus } from '../../run/store/active-runs.ts'
import { settleRun } from '../../run/store/run.ts'
import { CLEAR_DETAILS, CLEAR_TEXT, type ClearDocument } from '../clear-folder.ts'

export interface SettledRun {
  readonly data: ClearDocument['settled'][number] | undefined
  readonly line: string
}

/**
 * Accepts the ended run of a folder; undefined if there is none. The session that ran it cannot: an agent that clears
 * its marker would accept its own failure. An aborted run does not count anyway. A state that cannot be read stays, and
 * `status` reports it.
 */
export function settleEnded(context: CommandContext, folder: TaskFolder, isDryRun: boolean): SettledRun | undefined {
  const state = runStatus(folder)?.state
  if (state === undefined || settleState(state) === state) return undefined
  const session = shellIdentity(context.environment)?.session
  const command = (...words: string[]): string => commandLine([...words, taskWord(folder)], context.rootOption)
  const { task, relative: path } = folder
  const { name, hostSession, outcome = 'stopped' } = state
  if (session !== undefined && session === hostSession && outcome !== 'aborted') {
    return { data: undefined, line: CLEAR_TEXT.ownRun(path, name, outcome, command('clear')) }
  }
  if (!isDryRun) {
    settleRun(folder)
    const detail = CLEAR_DETAILS.settledRun(name, outcome)
    recordInJournal(context, folder.root, { event: 'clear', task, hostSession: session, settles: [], detail })
  }
  const resume = needOf(state).kind === 'resume' ? command('workflow', 'resume') : null
  return {
    data: { task, path, outcome, resume },
    line: CLEAR_TEXT.settledRun(path, name, outcome, resume, isDryRun),
  }
}
