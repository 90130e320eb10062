import { isJsonObject } from '../../kernel/json-object.ts'
import { END, MAX_INPUTS, MAX_PHASES } from './definition-limits.ts'
import type { DefinitionFile } from './definition-schema.ts'
import { count, flag, listOf, objectOf, optional, type Reader, text, type Values, WRONG } from './fields.ts'
import { targetsOf } from './next.ts'
import { type Phase, readPhase } from './phase-fields.ts'

/**
 * A workflow's definition as the machine sees it (docs/design.md, "Workflows"): every default filled in, every prompt as
 * text. On disk it is the snapshot in the state file, in snake_case.
 */

const readList = listOf(readPhase, MAX_PHASES)

/** At least one phase, with unique ids, and every `next` with a known target. */
const phases: Reader<readonly [Phase, ...Phase[]]> = (held) => {
  const read = readList(held)
  if (read === WRONG) return WRONG
  const [first, ...others] = read
  const ids = new Set(read.map(({ id }) => id))
  const isTarget = (target: string): boolean => target === END || ids.has(target)
  const isSound = ids.size === read.length && read.every(({ next }) => targetsOf(next).every(isTarget))
  return first !== undefined && isSound ? [first, ...others] : WRONG
}

/** A value that `start` takes, and prompts show. */
const readInput = objectOf({
  description: { key: 'description', read: optional(text) },
  default: { key: 'default', read: optional(text) },
  required: { key: 'required', read: optional(flag) },
})

/** An input of a definition. */
export interface Input extends Exclude<ReturnType<typeof readInput>, typeof WRONG> {}

/** The inputs by name. A definition may have none. */
const inputs: Reader<ReadonlyMap<string, Input>> = (held) => {
  const entries = isJsonObject(held ?? {}) ? Object.entries(held ?? {}) : undefined
  if (entries === undefined || entries.length > MAX_INPUTS) return WRONG
  const read = new Map<string, Input>()
  for (const [name, value] of entries) {
    const input = readInput(value)
    if (input === WRONG) return WRONG
    read.set(name, input)
  }
  return read
}

/** The source of a definition's snapshot. */
interface DefinitionSource {
  readonly written: DefinitionFile
  readonly phases: readonly object[]
}

/** The inputs with their defaults as text, as prompts show them. */
function inputsOf({ inputs }: DefinitionFile): object | undefined {
  if (inputs === undefined) return undefined
  const entries = Object.entries(inputs).map(([name, { default: value, ...rest }]) => [
    name,
    { ...rest, ...(value !== undefined && { default: String(value) }) },
  ])
  return Object.fromEntries(entries)
}

/** The fields of a definition, in the order of the snapshot. Those of its phases are in `phase-fields.ts`. */
export const DEFINITION_FIELDS = {
  name: { key: 'name', read: text, write: ({ written }: DefinitionSource) => written.name },
  inputs: { key: 'inputs', read: inputs, write: ({ written }: DefinitionSource) => inputsOf(written) },
  /** The number of prompts, and of minutes of work, that a run may cost, with all its resumes. */
  maxPrompts: {
    key: 'max_prompts',
    read: optional(count),
    write: ({ written }: DefinitionSource) => written.max_prompts,
  },
  maxMinutes: {
    key: 'max_minutes',
    read: optional(count),
    write: ({ written }: DefinitionSource) => written.max_minutes,
  },
  phases: { key: 'phases', read: phases, write: (source: DefinitionSource) => source.phases },
}

const readFields = objectOf(DEFINITION_FIELDS)

/** A definition that can be run. */
export interface Definition extends Values<typeof DEFINITION_FIELDS> {
  /** The definition as the state file holds it. It is written back unchanged. */
  readonly snapshot: object
}

/** Reads a snapshot; undefined if it does not have the shape that `start` writes. */
export function readDefinition(snapshot: unknown): Definition | undefined {
  const read = readFields(snapshot)
  return read === WRONG ? undefined : { ...read, snapshot: snapshot as object }
}

/** The phase with an id, or undefined. */
export function findPhase(definition: Definition, id: string): Phase | undefined {
  return definition.phases.find((one) => one.id === id)
}
