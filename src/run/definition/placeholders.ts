/** The placeholders of templates: which names they may have, and how they are filled in. */

/** The placeholders of every template. */
export const PLACEHOLDERS = [
  ...['workflow', 'task', 'task_folder', 'phase', 'visit', 'attempt', 'max_attempts'],
  ...['artifact', 'previous_artifact', 'verdict', 'step', 'step_number', 'total_steps', 'failure'],
] as const

/** What begins the placeholder of another phase's artifact: `{{artifact:PHASE}}`. */
export const ARTIFACT_OF = 'artifact:'

/** What begins the placeholder of an input: `{{input.NAME}}`. */
export const INPUT_OF = 'input.'

/** What begins the placeholder of a step's field: `{{step.NAME}}`. */
export const STEP_FIELD = 'step.'

/** The names that exist in a definition. */
export interface KnownNames {
  /** The phases that have an artifact. */
  readonly makers: ReadonlySet<string>
  readonly inputs: ReadonlySet<string>
  readonly hasStepField: (name: string) => boolean
}

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g

/** The unknown placeholders in a template. */
export function unknownPlaceholders(template: string, { makers, inputs, hasStepField }: KnownNames): string[] {
  const names = [...template.matchAll(PLACEHOLDER)].map((match) => String(match[1]))
  const isKnown = (name: string): boolean => {
    if (name.startsWith(ARTIFACT_OF)) return makers.has(name.slice(ARTIFACT_OF.length))
    if (name.startsWith(INPUT_OF)) return inputs.has(name.slice(INPUT_OF.length))
    if (name.startsWith(STEP_FIELD)) return hasStepField(name.slice(STEP_FIELD.length))
    return (PLACEHOLDERS as readonly string[]).includes(name)
  }
  return [...new Set(names)].filter((name) => !isKnown(name))
}

/** The template with its values. A placeholder inside a value stays as it is, and so does one without a value. */
export function fill(template: string, textOf: (name: string) => string | undefined): string {
  return template.replace(PLACEHOLDER, (whole, name: string) => textOf(name) ?? whole)
}
