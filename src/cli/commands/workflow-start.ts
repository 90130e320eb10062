import { commandLine } from '../../kernel/command-line.ts'
import { inLine, shellWord } from '../../kernel/text.ts'
import { type CommandContext, type CommandResult, displayPath, recordInJournal } from '../../project/command-context.ts'
import { inTaskFolder } from '../../project/new-task-folder.ts'
import { stepCount } from '../../run/definition/bound.ts'
import { inputValues } from '../../run/definition/snapshot.ts'
import { startEntry } from '../../run/drive.ts'
import { definitionSize } from '../../run/run-messages.ts'
import { findDefinition } from '../../run/store/find-definition.ts'
import { requireDefinition } from '../../run/store/load-definition.ts'
import { listedIn } from '../../run/store/observe-run.ts'
import { startRun } from '../../run/store/run.ts'
import { trustRun } from '../../run/store/run-trust.ts'
import type { RunDocument } from '../../views/run-view.ts'
import { runData } from '../../views/run-view.ts'

import {
  type ArgumentsOf,
  type BareCommand,
  DEFINITION,
  type Declaration,
  example,
  HOST_SESSION,
  type OptionsOf,
  PARENT_SESSION,
  SET,
  TASK,
} from '../command.ts'
import { givenInputs, runnerOf, trusterOf } from '../runs.ts'
import { driverLines } from '../workflow/driver-check.ts'

/** `postflight workflow start`: starts a run in a task's folder. */

export const declaration = {
  declare: (command: BareCommand) =>
    command
      .description('start a workflow in a task folder, for this host session')
      .argument(...TASK)
      .argument('[slug]', 'name for a new task folder')
      .requiredOption('--definition <file>', DEFINITION)
      .option(...HOST_SESSION)
      .option(...PARENT_SESSION)
      .option(...SET)
      .option('--fresh', 'first set the ended run aside, with its results', false)
      .addHelpText(
        'after',
        example(
          'workflow start 259 --definition flow.yaml',
          'workflow start 259 my_slug --definition flow.yaml',
          'workflow start 1 --definition spec-kit',
          'workflow start 259 --definition flow.yaml --set issue=42',
          'workflow start 259 --definition flow.yaml --fresh',
        ),
      ),
} satisfies Declaration

export { runDocument as document } from '../../views/run-view.ts'

type StartOptions = OptionsOf<typeof declaration>

/** Starts a run for the host session of the caller. */
export function run(
  context: CommandContext,
  [task, slug]: ArgumentsOf<typeof declaration>,
  options: StartOptions,
): CommandResult<RunDocument> {
  const runner = runnerOf(context, options)
  const file = findDefinition(context, options.definition)
  const definition = requireDefinition(file, displayPath(context, file))
  // This comes before a folder is made for the task.
  const inputs = inputValues(definition, givenInputs(options.set))
  const { folder, state, aside } = inTaskFolder(
    context,
    task,
    slug,
    (missing) =>
      `${commandLine(['workflow', 'start', task, missing], context.rootOption)} --definition ${shellWord(options.definition)}`,
    ({ folder }) => ({
      folder,
      ...startRun(folder, definition, runner, { nowMs: context.nowMs, fresh: options.fresh, inputs }),
    }),
  )
  trustRun(state, trusterOf(context, runner.hostSession))
  recordInJournal(context, folder.root, [startEntry(folder.task, state)])
  const data = runData(folder, state, context.nowMs)
  const steps = stepCount(definition, listedIn(folder))
  const size = definitionSize(definition.phases.length, steps, data.prompt_bound ?? 0)
  return {
    exitCode: 0,
    data,
    lines: [
      startedLine(inLine(state.name), inLine(folder.relative), size),
      ...(aside === undefined ? [] : [setAsideLine(`${inLine(folder.relative)}/${aside}`)]),
      ...driverLines(context, folder, state, runner.hostSession),
    ],
  }
}

/** What `start` prints. */
export function startedLine(name: string, folder: string, size: string): string {
  return `started "${name}" in ${folder}: ${size}`
}

/** What `start` prints when an earlier run left files. */
export function setAsideLine(folder: string): string {
  return `  files of an earlier run are now in ${folder}: they do not count for this one`
}
