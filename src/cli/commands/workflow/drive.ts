import { commandLine } from '../../../core/commands.ts'
import { shellIdentity } from '../../../core/hosts/index.ts'
import { oneLine } from '../../../core/text.ts'
import { DRIVER_TEXT } from '../../../core/workflow/messages.ts'
import type { WorkflowState } from '../../../core/workflow/state.ts'
import { processStartMs } from '../../../io/process-age.ts'
import { type TaskFolder, taskWord } from '../../../io/search.ts'
import { abortRun, resumeRun, stopRun, type Turn, takeTurn } from '../../../io/workflow/run.ts'
import { type CommandContext, type CommandResult, requireRoot, requireTaskFolder } from '../../context.ts'
import type { Painter } from '../../report.ts'
import { runData, runLines } from '../../workflow/view.ts'
import { type RunnerOptions, runnerOf } from './runner.ts'

/** `postflight workflow next`, `stop`, `resume` and `abort`: what moves a run. */

/**
 * What to dispatch next, after a look at what the last one left. A run of a host session is that session's to drive:
 * anybody else is told to wait, and nothing is counted.
 */
export function next(context: CommandContext, task: string): CommandResult {
  const folder = requireTaskFolder(requireRoot(context), task, 'workflow')
  const caller = shellIdentity(context.environment)?.session
  let driver = ''
  const asking = { sinceMs: processStartMs(), patience: 'command' } as const
  const turn = takeTurn(folder, asking, ({ active, hostSession }) => {
    if (!active || hostSession === undefined || hostSession === caller) return { returned: true, mayPrompt: true }
    driver = hostSession
    return undefined
  })
  if (turn === undefined) {
    const resume = commandLine(['workflow', 'resume', taskWord(folder)], context.rootOption)
    const why = DRIVER_TEXT.isElsewhere(driver, resume, caller !== undefined)
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

function turnData({ command, due, state }: Turn): object {
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

/** Asks a run to stop after the phase that runs. */
export function stop(context: CommandContext, paint: Painter, task: string): CommandResult {
  const folder = requireTaskFolder(requireRoot(context), task, 'workflow')
  return runResult(context, paint, folder, stopRun(folder, context.nowMs))
}

/** Takes a run up again, for the session that runs this; where none is known, for the one that it had. */
export function resume(context: CommandContext, paint: Painter, task: string, options: RunnerOptions): CommandResult {
  const runner = runnerOf(context, options)
  const folder = requireTaskFolder(requireRoot(context), task, 'workflow')
  const { state, takenFrom } = resumeRun(folder, runner, context.nowMs)
  const { exitCode, data, lines } = runResult(context, paint, folder, state)
  const next = commandLine(['workflow', 'next', taskWord(folder)], context.rootOption)
  return {
    exitCode,
    data: { ...data, taken_over_from: takenFrom ?? null },
    lines: [
      ...lines,
      ...(takenFrom === undefined ? [] : [`  ${DRIVER_TEXT.takenFrom(takenFrom)}`]),
      ...(state.active && state.hostSession === undefined ? [DRIVER_TEXT.askForEach(next)] : []),
    ],
  }
}

/** Ends a run at once. */
export function abort(context: CommandContext, paint: Painter, task: string): CommandResult {
  const folder = requireTaskFolder(requireRoot(context), task, 'workflow')
  return runResult(context, paint, folder, abortRun(folder, context.nowMs))
}

/** How a run stands after it was told something. */
function runResult(context: CommandContext, paint: Painter, folder: TaskFolder, state: WorkflowState): CommandResult {
  return {
    exitCode: 0,
    data: runData(folder, state, context.nowMs),
    lines: runLines(folder, state, context.nowMs, paint),
  }
}
