import { END, MAX_PHASES } from './definition-limits.ts'
import type { DefinitionFile } from './definition-schema.ts'
import { listOf, objectOf, type Reader, text, type Values, WRONG } from './fields.ts'
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
  const isSound = ids.size === read.length && read.every(({ next }) => isTarget(next.pass) && isTarget(next.fail))
  return first !== undefined && isSound ? [first, ...others] : WRONG
}

/** The source of a definition's snapshot. */
interface DefinitionSource {
  readonly written: DefinitionFile
  readonly phases: readonly object[]
}

/** The fields of a definition, in the order of the snapshot. Those of its phases are in `phase-fields.ts`. */
export const DEFINITION_FIELDS = {
  name: { key: 'name', read: text, write: ({ written }: DefinitionSource) => written.name },
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
