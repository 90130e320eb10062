/** The limits of a definition: its size, its names and its paths. */

/** The target of a `next` that ends the run. */
export const END = 'end'

/** The maximum number of faults of a definition that are told. */
export const MAX_FAULTS = 100

/** The maximum number of phases. */
export const MAX_PHASES = 2000

/** The maximum number of steps in one phase. */
export const MAX_PHASE_STEPS = 1000

/** The maximum number of steps in progress at once. */
export const MAX_PARALLEL = 16

/** The maximum number of inputs. */
export const MAX_INPUTS = 50

/** The maximum number of cases in one phase. */
export const MAX_CASES = 100

/** The maximum length of a case, in characters. */
export const MAX_CASE_LENGTH = 60

/** The maximum number of prompts, and of minutes, in a budget. */
export const MAX_BUDGET = 1_000_000

/** An id names folders and appears in diagrams, so it must be a plain word. */
const PHASE_ID = /^[A-Za-z][A-Za-z0-9_-]{0,59}$/

/** True for a valid id of a phase. */
export function isPhaseId(value: unknown): value is string {
  return typeof value === 'string' && PHASE_ID.test(value) && value.toLowerCase() !== END
}

/** True for a valid name of an input. */
export function isInputName(value: string): boolean {
  return PHASE_ID.test(value)
}

/** The names in a task folder that the workflow and the guard use themselves. */
const RESERVED =
  /^(?:workflow|workflow-runs|artifacts|checks|step-results|step-result(?:-\d+)?\.json|\.postflight[^/]*|\.return-meta\.json)(?:\/|$)/i

/** File systems allow names of 255 bytes, and the archive adds a few characters to them. */
const MAX_NAME_BYTES = 200

/**
 * True for a path that stays inside its folder on any system: relative, without `.` and `..`, backslashes, colons (drives,
 * streams), control characters and overlong names.
 */
export function isInsidePath(value: string): boolean {
  if (value.length > 200 || /[\\:*?"<>|\u0000-\u001f\u007f-\u009f]/.test(value)) return false
  // No part may end in a dot: that excludes `.`, `..` and names that Windows reads without the dot.
  return value.split('/').every((part) => part !== '' && !/[. ]$|^ /.test(part) && isShortName(part))
}

function isShortName(name: string): boolean {
  return new TextEncoder().encode(name).length <= MAX_NAME_BYTES
}

/** True for a path in a task folder that the workflow or the guard uses itself. */
export function isReserved(value: string): boolean {
  return RESERVED.test(value)
}

/** True for a path that stays inside the task folder and is not reserved. */
export function isArtifactPath(value: string): boolean {
  return isInsidePath(value) && !isReserved(value)
}
