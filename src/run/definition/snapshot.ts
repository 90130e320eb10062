import { type ErrorArguments, MAX_INPUT_LENGTH, PostflightError } from '../../kernel/errors.ts'
import type { Definition } from './definition.ts'
import { DEFINITION_FIELDS } from './definition.ts'
import type { DefinitionFile } from './definition-schema.ts'
import { followers, nextOf, phasesOnLoops } from './graph.ts'
import { PHASE_FIELDS } from './phase-fields.ts'

/** Fills in every default, and every prompt as text. */

export function snapshotOf(file: DefinitionFile, promptText: (name: string) => string | undefined): object {
  const looping = phasesOnLoops(followers(file))
  const phases = file.phases.map((written, index) => {
    const next = nextOf(written, file.phases[index + 1])
    return fieldsFrom(PHASE_FIELDS, { written, next, isOnLoop: looping.has(index), promptText })
  })
  return fieldsFrom(DEFINITION_FIELDS, { written: file, phases })
}

function fieldsFrom<Source>(
  table: Readonly<Record<string, { readonly key: string; readonly write: (source: Source) => unknown }>>,
  source: Source,
): object {
  return Object.fromEntries(Object.values(table).map(({ key, write }) => [key, write(source)]))
}

export type GivenInput = readonly [name: string, value: string]

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
