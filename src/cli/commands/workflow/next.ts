import { commandLine } from '../../../core/command-line.ts'
import { shellIdentity } from '../../../core/hosts/index.ts'
import { DRIVER_TEXT } from '../../../core/messages/runs.ts'
import { taskWord } from '../../../core/task-folder.ts'
import { oneLine } from '../../../core/text.ts'
import { processStartMs } from '../../../io/process/age.ts'
import { type Turn, takeTurn } from '../../../io/workflow/run.ts'
import { type CommandContext, type CommandResult, requireRoot, requireTaskFolder } from '../../context.ts'
import type { NextDocument } from '../../documents/workflow/next.ts'

/** `postflight workflow next`: the protocol for an orchestrator without hooks. */

/**
 * What to dispatch next, after a look at what the last one left. A run of a host session is that session's to drive:
 * anybody else is told to wait, and nothing is counted.
 */
export function next(context: CommandContext, task: string): CommandResult<NextDocument> {
  const folder = requireTaskFolder(requireRoot(context), task, 'workflow')
  const caller = shellIdentity(context.environment)?.session
  const asking = { sinceMs: processStartMs(), patience: 'command' } as const
  const turn = takeTurn(folder, asking, ({ active, hostSession }) => {
    const isElsewhere = active && hostSession !== undefined && hostSession !== caller
    return isElsewhere ? undefined : { returned: true, mayPrompt: true }
  })
  if (turn.command === 'none') {
    const resume = commandLine(['workflow', 'resume', taskWord(folder)], context.rootOption)
    const why = DRIVER_TEXT.isElsewhere(turn.state.hostSession ?? '', resume, caller !== undefined)
    return {
      exitCode: 0,
      data: { command: 'wait', ...NOTHING, why },
      lines: [`wait: ${why}`],
    }
  }
  const lines = turnLines(turn)
  return { exitCode: 0, data: turnData(turn), lines, essential: lines }
}

const NOTHING = {
  phase: null,
  step: null,
  attempt: null,
  prompt: null,
  agent: null,
  model: null,
  artifact: null,
  outcome: null,
  why: null,
}

function turnData({ command, due, state }: Turn): NextDocument {
  if (due === undefined) return { command, ...NOTHING, outcome: state.outcome ?? null, why: state.why ?? null }
  return {
    command,
    ...NOTHING,
    phase: due.phase,
    step: due.step ?? null,
    attempt: due.attempt,
    prompt: due.prompt,
    agent: due.agent ?? null,
    model: due.model ?? null,
    artifact: due.artifact,
  }
}

function turnLines({ command, due, state }: Turn): string[] {
  if (due === undefined) {
    return command === 'finish'
      ? [`finish: ${state.outcome}${state.why === undefined ? '' : ` (${oneLine(state.why, 500)})`}`]
      : ['wait: nothing to do now']
  }
  const who = [
    ...(due.agent === undefined ? [] : [`agent: ${oneLine(due.agent, 200)}`]),
    ...(due.model === undefined ? [] : [`model: ${oneLine(due.model, 200)}`]),
  ]
  return [
    `prompt: phase ${due.phase}${due.step === undefined ? '' : `, step ${due.step}`}, attempt ${due.attempt}`,
    ...who,
    '',
    due.prompt,
  ]
}
