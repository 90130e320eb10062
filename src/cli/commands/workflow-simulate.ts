import * as z from 'zod/mini'
import { commandLine } from '../../kernel/command-line.ts'
import { inLine } from '../../kernel/text.ts'
import { type CommandContext, type CommandResult, displayPath } from '../../project/command-context.ts'
import { promptBound } from '../../run/definition/bound.ts'
import { inputValues } from '../../run/definition/snapshot.ts'
import { type DuePrompt, stepsOf } from '../../run/machine/prompt.ts'
import { RUN_OUTCOMES } from '../../run/machine/run-outcome.ts'
import { simulate as walk } from '../../run/machine/simulate.ts'
import { STATUS_TEXT } from '../../run/run-messages.ts'
import { findDefinition } from '../../run/store/find-definition.ts'
import { requireDefinition } from '../../run/store/load-definition.ts'
import type { DocumentOf } from '../../views/documents.ts'
import * as field from '../../views/documents.ts'
import { NEXT_TEXT, SIMULATE_TEXT } from '../../views/run-view-messages.ts'
import {
  type ArgumentsOf,
  type BareCommand,
  collect,
  DEFINITION,
  type Declaration,
  example,
  type OptionsOf,
  SET,
} from '../command.ts'
import { givenInputs } from '../runs.ts'
import { dueData, dueFields } from '../workflow/due-data.ts'
import { scriptFrom } from '../workflow/script-options.ts'

/** `postflight workflow simulate`: walks through a definition with given outcomes. Nothing is written. */

export const declaration = {
  declare: (command: BareCommand) =>
    command
      .description(
        'walk through a definition with given outcomes, and print its path and its number of prompts; writes nothing',
      )
      .argument('<definition>', DEFINITION)
      .option(
        '--fail <phase:count>',
        'let the first COUNT attempts fail; PHASE/STEP:COUNT for a step (repeatable)',
        collect,
        [],
      )
      .option(
        '--case <phase=case>',
        'the verdict of a phase with cases (default: its first case; repeatable)',
        collect,
        [],
      )
      .option(
        '--steps <phase=count>',
        'the number of steps that a phase takes from a file (default: 3; repeatable)',
        collect,
        [],
      )
      .option(...SET)
      .addHelpText(
        'after',
        example('workflow simulate four-phases', 'workflow simulate flow.yaml --fail validate:1 --json'),
      ),
} satisfies Declaration

/** `postflight workflow simulate --json`. */
export const document = () => {
  const entered = z.strictObject({ phase: field.text("The phase's id."), visit: field.count('Its visit, from 1.') })
  return z.strictObject({
    outcome: z.nullable(z.enum(RUN_OUTCOMES)).register(z.globalRegistry, {
      description: 'How the run would end; null if it would go on after 10,000 prompts.',
    }),
    why: field.optionalText('Why it would end in this way, in words.'),
    path: z
      .array(entered)
      .register(z.globalRegistry, { description: 'The phases in the order in which they are entered.' }),
    prompts: z.array(z.strictObject(dueFields())),
    prompt_count: field.count('The number of prompts; each step of a batch counts.'),
    prompt_bound: field.count('The maximum number of prompts of a run of this definition.'),
  })
}

type SimulateDocument = DocumentOf<typeof document>

type SimulateOptions = OptionsOf<typeof declaration>

/** The name that stands for the task in a simulated prompt. */
const TASK = 'TASK'

/** Prints the path through a definition, its number of prompts and their maximum. */
export function run(
  context: CommandContext,
  [target]: ArgumentsOf<typeof declaration>,
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
