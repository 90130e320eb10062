import { checkRules, type DefinitionFinding } from './definition-rules.ts'
import { checkShape, type DefinitionFile } from './definition-schema.ts'

/** The faults of a definition: those of its shape or, if the shape is right, those of its sense. */

/** The result of checking a definition. */
export interface Checked {
  readonly faults: readonly DefinitionFinding[]
  readonly warnings: readonly DefinitionFinding[]
  /** The definition; undefined if its shape is wrong. */
  readonly file: DefinitionFile | undefined
}

/** Checks a definition. Its sense can be judged only if the shape is right, so the shape comes first. */
export function checkDefinition(value: unknown): Checked {
  const shape = checkShape(value)
  if ('faults' in shape) return { faults: shape.faults, warnings: [], file: undefined }
  return { ...checkRules(shape.file), file: shape.file }
}
