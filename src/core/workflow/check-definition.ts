import { checkRules, type DefinitionFinding } from './definition-rules.ts'
import { checkShape, type DefinitionFile } from './definition-schema.ts'

/** Every fault of a definition: those of its shape, or, where the shape is right, those of its sense. */

/** The result of a check. */
export interface Checked {
  readonly faults: readonly DefinitionFinding[]
  readonly warnings: readonly DefinitionFinding[]
  /** The definition; undefined where its shape is wrong. */
  readonly file: DefinitionFile | undefined
}

/** Checks the shape first. What the phases mean can be judged only where they have the right one. */
export function checkDefinition(value: unknown): Checked {
  const shape = checkShape(value)
  if ('faults' in shape) return { faults: shape.faults, warnings: [], file: undefined }
  return { ...checkRules(shape.file), file: shape.file }
}
