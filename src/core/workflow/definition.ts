import { END, MAX_PHASES } from './definition-limits.ts'
import type { DefinitionFile } from './definition-schema.ts'
import { listOf, objectOf, type Reader, text, type Values, WRONG } from './fields.ts'
import { type Phase, readPhase } from './phase-fields.ts'

/**
 * A workflow's definition as the machine sees it (docs/design.md, Workflow): every default filled in, every prompt as
 * text. On disk it is the snapshot in the state file, snake_case.
 */

const readList = listOf(readPhase, MAX_PHASES)

/** One phase at least, no two of one name, and no `next` that leads nowhere. */
const phases: Reader<readonly [Phase, ...Phase[]]> = (held) => {
  const read = readList(held)
  if (read === WRONG) return WRONG
  const [first, ...others] = read
  const ids = new Set(read.map(({ id }) => id))
  const isTarget = (target: string): boolean => target === END || ids.has(target)
  const isSound = ids.size === read.length && read.every(({ next }) => isTarget(next.pass) && isTarget(next.fail))
  return first !== undefined && isSound ? [first, ...others] : WRONG
}

/** What the snapshot of a definition is made from. */
interface DefinitionSource {
  readonly written: DefinitionFile
  readonly phases: readonly object[]
}

/** Every field of a definition besides what its phases hold, in the order of the snapshot. */
export const DEFINITION_FIELDS = {
  name: { key: 'name', read: text, write: ({ written }: DefinitionSource) => written.name },
  phases: { key: 'phases', read: phases, write: (source: DefinitionSource) => source.phases },
}

const readFields = objectOf(DEFINITION_FIELDS)

/** A definition, ready to run. */
export interface Definition extends Values<typeof DEFINITION_FIELDS> {
  /** The definition as the state file holds it; written back as it was read. */
  readonly snapshot: object
}

/** Reads a snapshot; undefined when it does not have the shape that `start` wrote. */
export function readDefinition(snapshot: unknown): Definition | undefined {
  const read = readFields(snapshot)
  return read === WRONG ? undefined : { ...read, snapshot: snapshot as object }
}

/** The phase of an id, or undefined. */
export function findPhase(definition: Definition, id: string): Phase | undefined {
  return definition.phases.find((one) => one.id === id)
}
