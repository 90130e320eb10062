import { commandLine } from '../../kernel/command-line.ts'
import { counted, cut, inLine, quote } from '../../kernel/text.ts'
import { displayPath } from '../../project/command-context.ts'
import { promptBound } from '../../run/definition/bound.ts'
import { type Definition, findPhase, givenInputs, inputValues } from '../../run/definition/definition.ts'
import { MAX_PHASE_STEPS } from '../../run/definition/definition-limits.ts'
import type { Phase } from '../../run/definition/phase-fields.ts'
import { skippedText } from '../../run/machine/position.ts'
import { type Script, simulatedStepCount, simulate as walk } from '../../run/machine/simulate.ts'
import { RUN_OUTCOMES } from '../../run/machine/state-fields.ts'
import { findDefinition } from '../../run/store/find-definition.ts'
import { requireDefinition } from '../../run/store/load-definition.ts'
import * as field from '../../views/documents.ts'
import { DEFINITION, type Declaration, invalidValue, type Run, repeatable, SET } from '../command.ts'
import { dueData, dueFields, dueLine } from './workflow-next.ts'

export const declaration = {
  description:
    'walk through a definition with given outcomes, and print its path and its number of prompts; writes nothing',
  examples: ['workflow simulate four-phases', 'workflow simulate flow.yaml --fail plan:1 --json'],
  declare: (command) =>
    command
      .argument('<definition>', DEFINITION)
      .option(...repeatable('--fail <phase:count>', 'make the first COUNT attempts fail; PHASE/STEP:COUNT for a step'))
      .option(...repeatable('--case <phase=case>', 'the verdict of a phase with cases, by default its first case'))
      .option(
        ...repeatable('--steps <phase=count>', 'the number of steps that a phase takes from a file, by default 3'),
      )
      .option(...SET),
} satisfies Declaration

export const document = () => {
  const entered = field.object({ phase: field.text("The phase's id."), visit: field.count('Its visit, from 1.') })
  return field.object({
    outcome: field.optional(
      field.oneOf(RUN_OUTCOMES),
      'How the run would end; null if it would go on after 10,000 prompts.',
    ),
    why: field.optionalText('Why it would end in this way, in words.'),
    path: field.described(field.list(entered), 'The phases in the order in which they are entered.'),
    prompts: field.objects(dueFields()),
    prompt_count: field.count('The number of prompts; each step of a batch counts.'),
    prompt_bound: field.count('The maximum number of prompts of a run of this definition.'),
  })
}

const TASK = 'TASK'

export const run: Run<typeof declaration, typeof document> = (context, [target], options) => {
  const file = findDefinition(context, target)
  const definition = requireDefinition(file, displayPath(context, file))
  const steps = new Map(options.steps.map((value) => stepCountOf(definition, value)))
  const cases = new Map(options.case.map((value) => caseOf(definition, value)))
  const failures = new Map(options.fail.map((value) => failureOf(definition, value, { steps })))
  const checkCommand = commandLine(['workflow', 'check', TASK], undefined)
  const inputs = inputValues(definition, givenInputs(options.set))
  const { state, prompts, history } = walk(
    definition,
    { failures, cases, steps },
    { task: TASK, folder: `specs/${TASK}`, checkCommand },
    inputs,
  )
  const bound = promptBound(definition, ({ id }) => steps.get(id))
  const entered = history.flatMap(({ event, phase, visit = 1 }) => (event === 'enter' ? [{ phase, visit }] : []))
  const why = state.outcome === 'completed' && state.skips > 0 ? skippedText(state.skips) : state.why
  const taken = [...entered.map(({ phase }) => phase), state.outcome ?? '…'].join(' → ')
  const lines = [
    `${inLine(state.name)}: ${taken}${why === undefined ? '' : ` (${quote(why, 500)})`}`,
    ...prompts.map((due, index) => `${String(index + 1).padStart(4)}  ${dueLine(due)}`),
    `${counted(state.prompts, 'prompt')}, at most ${bound}`,
  ]
  return {
    data: {
      outcome: state.outcome ?? null,
      why: state.why ?? null,
      path: entered,
      prompts: prompts.map(dueData),
      prompt_count: state.prompts,
      prompt_bound: bound,
    },
    lines,
    essential: lines,
  }
}

function stepCountOf(definition: Definition, value: string): [string, number] {
  const isCounted = ({ steps }: Phase): boolean => steps !== undefined && steps.kind !== 'list'
  const [, name = '', count = ''] = /^([^=]+)=(\d{1,4})$/.exec(value) ?? []
  const phase = findPhase(definition, name)
  if (phase !== undefined && isCounted(phase) && Number(count) <= MAX_PHASE_STEPS) return [name, Number(count)]
  const names = definition.phases.filter(isCounted).map(({ id }) => id)
  const expected = `takes PHASE=COUNT with at most ${MAX_PHASE_STEPS} steps (${among(names)})`
  throw invalidValue('--steps', value, expected)
}

function caseOf(definition: Definition, value: string): [string, string] {
  const [, name = '', chosen = ''] = /^([^=]+)=(.*)$/s.exec(value) ?? []
  const { cases, otherwise } = findPhase(definition, name)?.next ?? {}
  if (cases !== undefined && (Object.hasOwn(cases, chosen) || otherwise !== undefined)) return [name, chosen]
  const names = definition.phases.flatMap(({ id, next }) => Object.keys(next.cases ?? {}).map((one) => `${id}=${one}`))
  throw invalidValue('--case', value, `takes PHASE=CASE (${among(names)})`)
}

function failureOf(definition: Definition, value: string, script: Pick<Script, 'steps'>): [string, number] {
  const [, name = '', step, count = '1'] = /^([^/:]+)(?:\/([1-9]\d{0,3}))?(?::(\d{1,4}))?$/.exec(value) ?? []
  const phase = findPhase(definition, name)
  if (phase?.artifact !== undefined && step === undefined) return [name, Number(count)]
  if (phase !== undefined && step !== undefined && Number(step) <= simulatedStepCount(script, phase)) {
    return [`${name}/${step}`, Number(count)]
  }
  const names = definition.phases.flatMap((one) => {
    const steps = simulatedStepCount(script, one)
    const ofSteps = steps > 1 ? [`${one.id}/1 to ${one.id}/${steps}`] : steps === 1 ? [`${one.id}/1`] : []
    return one.artifact === undefined ? ofSteps : [one.id, ...ofSteps]
  })
  throw invalidValue('--fail', value, `takes PHASE:COUNT or PHASE/STEP:COUNT (${among(names)})`)
}

function among(names: readonly string[]): string {
  return names.length === 0 ? 'this workflow has no such phase' : cut(names.join(', '), 500)
}
