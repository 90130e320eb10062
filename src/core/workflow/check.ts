import { isJsonObject } from '../json-object.ts'
import { checkShape, type DefinitionFile, type FaultPath } from './definition-schema.ts'
import { checkRules, type DefinitionFinding } from './rules.ts'
import { salvage } from './salvage.ts'

/** A definition as it was read: every fault at once, those of its shape and those of its sense. */

/** What a check came to. */
export interface Checked {
  readonly faults: readonly DefinitionFinding[]
  readonly warnings: readonly DefinitionFinding[]
  /** The definition, or what is left of it without the faults of its shape; undefined when that is nothing. */
  readonly file: DefinitionFile | undefined
}

/** Checks shape and rules. What only follows from a fault of the shape is not told again. */
export function checkDefinition(value: unknown): Checked {
  const shape = checkShape(value)
  if ('file' in shape) return { ...checkRules(shape.file), file: shape.file }
  const file = salvage(value, shape.faults)
  if (file === undefined) return { faults: shape.faults, warnings: [], file }
  const areWaysKnown = !shape.faults.some(({ path }) => hidesWays(path))
  const { faults, warnings } = checkRules(file, rawPhases(value), areWaysKnown)
  const isNew = ({ path }: DefinitionFinding): boolean => !shape.faults.some((fault) => touches(fault.path, path))
  return {
    faults: [...shape.faults, ...faults.filter(isNew)],
    warnings: warnings.filter(isNew),
    file,
  }
}

/** The phases as they were written, whatever they are: of a value that something could be salvaged of. */
function rawPhases(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  const { phases } = value as { readonly phases: readonly unknown[] }
  return phases.map((phase) => (isJsonObject(phase) ? phase : {}))
}

/** True when one of two places lies in the other: what is wrong there was told. */
function touches(fault: FaultPath, finding: FaultPath): boolean {
  const depth = Math.min(fault.length, finding.length)
  // A phase as a whole is found at fault for what it lacks, which a fault inside of it does not say.
  if (finding.length === 2 && fault.length > 2) return false
  return fault.slice(0, depth).every((part, index) => part === finding[index])
}

/** True for what decides where phases lead, and what they are called. */
function hidesWays(path: FaultPath): boolean {
  return path[2] === 'id' || path[2] === 'next'
}
