import { DEFINITION_FIELDS } from './definition.ts'
import type { DefinitionFile } from './definition-schema.ts'
import { followers, nextOf, phasesOnLoops } from './graph.ts'
import { PHASE_FIELDS } from './phase-fields.ts'

/** Turns a written definition into the snapshot that a run keeps: every default filled in, every prompt as text. */

/** The snapshot of a definition without faults. `promptText` returns the text of a `prompt_file`. */
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
