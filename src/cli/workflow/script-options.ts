import { PostflightError } from '../../core/errors.ts'
import { OPTION_EXPECTATIONS } from '../../core/messages/usage.ts'
import { type Definition, findPhase } from '../../core/workflow/definition.ts'
import { MAX_PHASE_STEPS } from '../../core/workflow/definition-limits.ts'
import type { Phase } from '../../core/workflow/phase-fields.ts'
import type { Script } from '../../core/workflow/simulate.ts'

/** Reads the scripted outcomes from the options of `workflow simulate`. */

export interface ScriptOptions {
  /** PHASE[:COUNT] or PHASE/STEP[:COUNT]. */
  readonly fail: readonly string[]
  /** PHASE=CASE. */
  readonly case: readonly string[]
  /** PHASE=COUNT. */
  readonly steps: readonly string[]
}

/** The script of the options. @throws {PostflightError} `value-invalid`. */
export function scriptFrom(definition: Definition, options: ScriptOptions): Script {
  const phaseNamed = (option: string, value: string, name: string, expected: string): Phase => {
    const phase = findPhase(definition, name)
    if (phase === undefined) throw new PostflightError('value-invalid', { option, value, expected })
    return phase
  }
  const failures = options.fail.map((value): [string, number] => {
    const [, name = '', step, count = '1'] = /^([^/:]+)(?:\/([1-9]\d{0,3}))?(?::(\d{1,4}))?$/.exec(value) ?? []
    const expected = OPTION_EXPECTATIONS.failures
    const { id, artifact, steps } = phaseNamed('--fail', value, name, expected)
    const most = steps?.kind === 'list' ? steps.steps.length : MAX_PHASE_STEPS
    const canFail = step === undefined ? artifact !== undefined : steps !== undefined && Number(step) <= most
    if (!canFail) throw new PostflightError('value-invalid', { option: '--fail', value, expected })
    return [step === undefined ? id : `${id}/${step}`, Number(count)]
  })
  const cases = options.case.map((value): [string, string] => {
    const [, name = '', chosen = ''] = /^([^=]+)=(.*)$/s.exec(value) ?? []
    const expected = OPTION_EXPECTATIONS.phaseCase
    const { id, next } = phaseNamed('--case', value, name, expected)
    const isCase = next.cases !== undefined && (Object.hasOwn(next.cases, chosen) || next.otherwise !== undefined)
    if (!isCase) throw new PostflightError('value-invalid', { option: '--case', value, expected })
    return [id, chosen]
  })
  const steps = options.steps.map((value): [string, number] => {
    const [, name = '', count = ''] = /^([^=]+)=(\d{1,4})$/.exec(value) ?? []
    const expected = OPTION_EXPECTATIONS.phaseSteps
    const { id, steps: source } = phaseNamed('--steps', value, name, expected)
    if (source === undefined || source.kind === 'list' || Number(count) > MAX_PHASE_STEPS) {
      throw new PostflightError('value-invalid', { option: '--steps', value, expected })
    }
    return [id, Number(count)]
  })
  return { failures: new Map(failures), cases: new Map(cases), steps: new Map(steps) }
}
