import { isReserved } from '../../project/own-files.ts'

export const END = 'end'

export const MAX_FAULTS = 100
export const MAX_PHASES = 2000
export const MAX_PHASE_STEPS = 1000
export const MAX_PARALLEL = 16
export const MAX_INPUTS = 50
export const MAX_CASES = 100
export const MAX_CASE_LENGTH = 60
export const MAX_BUDGET = 1_000_000

/** For ids, which name folders and appear in diagrams, and names of inputs. */
export const PLAIN_WORD = /^[A-Za-z][A-Za-z0-9_-]{0,59}$/

export function isPhaseId(value: unknown): value is string {
  return typeof value === 'string' && PLAIN_WORD.test(value) && value.toLowerCase() !== END
}

/** File systems allow names of 255 bytes, and the archive adds a few characters. */
export const MAX_NAME_BYTES = 200

/** Whether it stays inside on any system: no `.`, `..`, `\`, colon (drive, stream), control character or long name. */
export function isInsidePath(value: string): boolean {
  if (value.length > 200 || /[\\:*?"<>|\u0000-\u001f\u007f-\u009f]/.test(value)) return false
  // No part may end in a dot: that excludes `.`, `..` and names that Windows reads without the dot.
  return value
    .split('/')
    .every((part) => part !== '' && !/[. ]$|^ /.test(part) && new TextEncoder().encode(part).length <= MAX_NAME_BYTES)
}

export function isArtifactPath(value: string): boolean {
  return isInsidePath(value) && !isReserved(value)
}

export const PLACEHOLDERS = [
  ...['workflow', 'task', 'task_folder', 'phase', 'visit', 'attempt', 'max_attempts'],
  ...['artifact', 'previous_artifact', 'verdict', 'step', 'step_number', 'total_steps', 'failure'],
] as const

export const ARTIFACT_OF = 'artifact:'
export const INPUT_OF = 'input.'
export const STEP_FIELD = 'step.'

/** Without `\s*` beside the name: blanks that no brace ends would take cubic time. */
const PLACEHOLDER = /\{\{([^{}]*)\}\}/g

/** `isKnown`: whether the phase has that name, besides PLACEHOLDERS. */
export function unknownPlaceholders(template: string, isKnown: (name: string) => boolean): string[] {
  const names = new Set([...template.matchAll(PLACEHOLDER)].map((match) => String(match[1]).trim()))
  return [...names].filter((name) => !(PLACEHOLDERS as readonly string[]).includes(name) && !isKnown(name))
}

export function fill(template: string, textOf: (name: string) => string | undefined): string {
  return template.replace(PLACEHOLDER, (whole, name: string) => textOf(name.trim()) ?? whole)
}
