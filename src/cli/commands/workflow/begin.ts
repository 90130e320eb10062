import path from 'node:path'
import { commandLine } from '../../../core/commands.ts'
import { inLine } from '../../../core/text.ts'
import { promptBound } from '../../../core/workflow/bound.ts'
import { type Definition, MAX_STEPS } from '../../../core/workflow/definition.ts'
import { mermaidLines } from '../../../core/workflow/mermaid.ts'
import { counted, DRIVER_TEXT, definitionSize } from '../../../core/workflow/messages.ts'
import { kindAt } from '../../../io/file-access/looking.ts'
import { taskWord } from '../../../io/search.ts'
import { loadDefinition, type PlacedFinding, requireDefinition } from '../../../io/workflow/load-definition.ts'
import { requireState, startRun } from '../../../io/workflow/run.ts'
import { type CommandContext, type CommandResult, displayPath, requireRoot, requireTaskFolder } from '../../context.ts'
import { prepareTaskFolder } from '../../new-task-folder.ts'
import type { Painter } from '../../report.ts'
import { runData } from '../../workflow/view.ts'
import { type RunnerOptions, runnerOf } from './runner.ts'

/** `postflight workflow validate`, `start` and `graph`: what begins with a definition. */

/** Every fault and warning of a definition. Exit code 1 when it has faults. */
export function validate(context: CommandContext, paint: Painter, file: string): CommandResult {
  const target = path.resolve(context.cwd, file)
  const { faults, warnings, ready } = loadDefinition(target)
  const shown = displayPath(context, target)
  const line = (finding: PlacedFinding, sign: string): string =>
    `${sign} ${shown}:${finding.line}:${finding.column}  ${finding.where === '' ? '' : `${finding.where}: `}${finding.detail}`
  const definition = ready?.definition
  return {
    exitCode: faults.length > 0 ? 1 : 0,
    data: {
      file: target,
      valid: faults.length === 0,
      faults,
      warnings,
      phases: definition?.phases.length ?? null,
      prompt_bound: definition === undefined ? null : promptBound(definition),
    },
    lines: [
      ...faults.map((finding) => line(finding, paint.red('✗'))),
      ...warnings.map((finding) => line(finding, paint.yellow('!'))),
      definition === undefined
        ? counted(faults.length, 'fault')
        : `${paint.green('✓')} ${inLine(definition.name)}: ${definitionSize(definition.phases.length, promptBound(definition))}${boundNote(definition)}`,
    ],
  }
}

export interface StartOptions extends RunnerOptions {
  readonly definition: string
  readonly fresh: boolean
}

/** Starts a workflow in a task's folder, for the host session that runs this. */
export function start(
  context: CommandContext,
  task: string,
  slug: string | undefined,
  options: StartOptions,
): CommandResult {
  const runner = runnerOf(context, options)
  const file = path.resolve(context.cwd, options.definition)
  const ready = requireDefinition(file, displayPath(context, file))
  const { folder } = prepareTaskFolder(context, task, slug)
  const state = startRun(folder, ready, runner, { nowMs: context.nowMs, fresh: options.fresh })
  const next = commandLine(['workflow', 'next', taskWord(folder)], context.rootOption)
  return {
    exitCode: 0,
    data: runData(folder, state, context.nowMs),
    lines: [
      `started "${inLine(state.name)}" in ${inLine(folder.relative)}: ${definitionSize(ready.definition.phases.length, promptBound(ready.definition))}`,
      runner.hostSession === undefined ? DRIVER_TEXT.askForEach(next) : DRIVER_TEXT.endTurn(next),
    ],
  }
}

/** Why a bound is as high as it is. */
function boundNote({ phases }: Definition): string {
  return phases.some(({ steps }) => steps?.kind === 'from') ? ` (steps not known yet count as ${MAX_STEPS})` : ''
}

/** A definition, or a task's run in the colours of its state, as a Mermaid diagram. */
export function graph(context: CommandContext, target: string): CommandResult {
  const file = path.resolve(context.cwd, target)
  // A file that is not there is missed as a file, not as a task.
  const isFile = /\.(?:ya?ml|json)$/i.test(target) || (/[./\\]/.test(target) && kindAt(file) === 'file')
  const state = isFile ? undefined : requireState(requireTaskFolder(requireRoot(context), target, 'workflow'))
  const definition = state?.definition ?? requireDefinition(file, displayPath(context, file)).definition
  const lines = mermaidLines(definition, state)
  return { exitCode: 0, data: { mermaid: lines.join('\n') }, lines, essential: lines }
}
