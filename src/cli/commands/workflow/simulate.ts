import { commandLine } from '../../../kernel/command-line.ts'
import { inLine } from '../../../kernel/text.ts'
import { type CommandContext, type CommandResult, displayPath } from '../../../project/command-context.ts'
import { promptBound } from '../../../run/definition/bound.ts'
import { inputValues } from '../../../run/definition/snapshot.ts'
import { type DuePrompt, stepsOf } from '../../../run/machine/prompt.ts'
import { simulate as walk } from '../../../run/machine/simulate.ts'
import { STATUS_TEXT } from '../../../run/run-messages.ts'
import { findDefinition } from '../../../run/store/find-definition.ts'
import { requireDefinition } from '../../../run/store/load-definition.ts'
import type { SimulateDocument } from '../../../views/documents/workflow/simulate.ts'
import { NEXT_TEXT, SIMULATE_TEXT } from '../../../views/run-view-messages.ts'
import { dueData } from '../../workflow/due-data.ts'
import { givenInputs } from '../../workflow/given-inputs.ts'
import { type ScriptOptions, scriptFrom } from '../../workflow/script-options.ts'

/** `postflight workflow simulate`: walks through a definition with given outcomes. Nothing is written. */

export interface SimulateOptions extends ScriptOptions {
  readonly set: readonly string[]
}

/** The name that stands for the task in a simulated prompt. */
const TASK = 'TASK'

/** Prints the path through a definition, its number of prompts and their maximum. */
export function simulate(
  context: CommandContext,
  target: string,
  options: SimulateOptions,
): CommandResult<SimulateDocument> {
  const file = findDefinition(context, target)
  const definition = requireDefinition(file, displayPath(context, file))
  const script = scriptFrom(definition, options)
  const place = {
    task: TASK,
    folder: `specs/${TASK}`,
    checkCommand: commandLine(['workflow', 'check', TASK], undefined),
  }
  const { state, prompts, history } = walk(definition, script, place, inputValues(definition, givenInputs(options.set)))
  const bound = promptBound(definition, ({ id }) => script.steps.get(id))
  const entered = history.flatMap(({ event, phase, visit = 1 }) => (event === 'enter' ? [{ phase, visit }] : []))
  const outcome = state.outcome ?? null
  const lines = [
    SIMULATE_TEXT.path(
      inLine(state.name),
      entered.map(({ phase }) => phase),
      outcome ?? undefined,
      state.why,
    ),
    ...prompts.map((due, index) => `${String(index + 1).padStart(4)}  ${headOf(due)}`),
    STATUS_TEXT.prompts(state.prompts, bound),
  ]
  return {
    exitCode: 0,
    data: {
      ...{ outcome, why: state.why ?? null, path: entered },
      prompts: prompts.map(dueData),
      ...{ prompt_count: state.prompts, prompt_bound: bound },
    },
    lines,
    essential: lines,
  }
}

function headOf(due: DuePrompt): string {
  return due.batch === undefined
    ? NEXT_TEXT.prompt(due.phase, due.step, due.attempt)
    : NEXT_TEXT.batch(due.phase, stepsOf(due))
}
