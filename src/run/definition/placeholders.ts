export const PLACEHOLDERS = [
  ...['workflow', 'task', 'task_folder', 'phase', 'visit', 'attempt', 'max_attempts'],
  ...['artifact', 'previous_artifact', 'verdict', 'step', 'step_number', 'total_steps', 'failure'],
] as const

export const ARTIFACT_OF = 'artifact:'

export const INPUT_OF = 'input.'

export const STEP_FIELD = 'step.'

export interface KnownNames {
  readonly makers: ReadonlySet<string>
  readonly inputs: ReadonlySet<string>
  readonly hasStepField: (name: string) => boolean
}

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g

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

export function fill(template: string, textOf: (name: string) => string | undefined): string {
  return template.replace(PLACEHOLDER, (whole, name: string) => textOf(name) ?? whole)
}
