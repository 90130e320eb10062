import { PostflightError } from '../../kernel/errors.ts'
import { type Definition, findPhase } from '../../run/definition/definition.ts'
import { MAX_PHASE_STEPS } from '../../run/definition/definition-limits.ts'
import type { Phase } from '../../run/definition/phase-fields.ts'
import { type Script, simulatedStepCount } from '../../run/machine/simulate.ts'
import { OPTION_EXPECTATIONS } from '../usage-messages.ts'

/** Reads the scripted outcomes from the options of `workflow simulate`. */

export interface ScriptOptions {
  /** PHASE[:COUNT] or PHASE/STEP[:COUNT]. */
  readonly fail: readonly string[]
  /** PHASE=CASE. */
  readonly case: readonly string[]
  /** PHASE=COUNT. */
  readonly steps: readonly string[]
}

/** The script of the options. @throws {PostflightError} `value-invalid`, with the names that the option takes. */
export function scriptFrom(definition: Definition, options: ScriptOptions): Script {
  const steps = new Map(options.steps.map((value) => stepsOf(definition, value)))
  const cases = new Map(options.case.map((value) => caseOf(definition, value)))
  const failures = new Map(options.fail.map((value) => failureOf(definition, value, { steps })))
  return { failures, cases, steps }
}

function stepsOf(definition: Definition, value: string): [string, number] {
  const isCounted = ({ steps }: Phase): boolean => steps !== undefined && steps.kind !== 'list'
  const [, name = '', count = ''] = /^([^=]+)=(\d{1,4})$/.exec(value) ?? []
  const phase = findPhase(definition, name)
  if (phase !== undefined && isCounted(phase) && Number(count) <= MAX_PHASE_STEPS) return [name, Number(count)]
  const names = definition.phases.filter(isCounted).map(({ id }) => id)
  return refuse('--steps', value, OPTION_EXPECTATIONS.phaseSteps(names, MAX_PHASE_STEPS))
}

function caseOf(definition: Definition, value: string): [string, string] {
  const [, name = '', chosen = ''] = /^([^=]+)=(.*)$/s.exec(value) ?? []
  const { cases, otherwise } = findPhase(definition, name)?.next ?? {}
  if (cases !== undefined && (Object.hasOwn(cases, chosen) || otherwise !== undefined)) return [name, chosen]
  const names = definition.phases.flatMap(({ id, next }) => Object.keys(next.cases ?? {}).map((one) => `${id}=${one}`))
  return refuse('--case', value, OPTION_EXPECTATIONS.phaseCase(names))
}

/** A phase fails by its artifact, a step by its result: only those that the simulation asks for can fail. */
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
  return refuse('--fail', value, OPTION_EXPECTATIONS.failures(names))
}

function refuse(option: string, value: string, expected: string): never {
  throw new PostflightError('value-invalid', { option, value, expected })
}
