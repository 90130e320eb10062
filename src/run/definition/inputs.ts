import { type ErrorArguments, PostflightError } from '../../kernel/errors.ts'
import { MAX_INPUT_LENGTH } from '../../kernel/limits.ts'
import type { Definition } from './definition.ts'

/** The values of a run's inputs, from those that were given and the defaults. */

/** An input and its value, as `NAME=VALUE` gives it. */
export type GivenInput = readonly [name: string, value: string]

/** The values of all inputs. Of an input that was given twice, the last value counts. @throws {PostflightError} `workflow-input`. */
export function inputValues({ inputs }: Definition, given: readonly GivenInput[]): Readonly<Record<string, string>> {
  const refused = (problem: ErrorArguments['workflow-input']['problem'], name: string): PostflightError =>
    new PostflightError('workflow-input', { problem, name, known: [...inputs.keys()].join(', ') })
  for (const [name, value] of given) {
    if (!inputs.has(name)) throw refused('unknown', name)
    if (value.length > MAX_INPUT_LENGTH) throw refused('too-long', name)
  }
  const values = new Map(given)
  for (const [name, { default: standard, required }] of inputs) {
    if (values.has(name)) continue
    if (required === true) throw refused('missing', name)
    values.set(name, standard ?? '')
  }
  return Object.fromEntries(values)
}
