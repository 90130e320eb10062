/** How large a definition may be, and which names and paths it may use. */

/** The target of a `next` that ends the run. */
export const END = 'end'

/** More phases than this are refused. */
export const MAX_PHASES = 2000

/** More steps than this in one phase are refused. */
export const MAX_PHASE_STEPS = 1000

/** Phases name folders and stand in diagrams: a plain word. */
const PHASE_ID = /^[A-Za-z][A-Za-z0-9_-]{0,59}$/

/** True for a name that a phase may have. */
export function isPhaseId(value: unknown): value is string {
  return typeof value === 'string' && PHASE_ID.test(value) && value.toLowerCase() !== END
}

/** Names in the task folder that the machine and the guard use themselves. */
const RESERVED =
  /^(?:workflow|workflow-runs|artifacts|step-results|step-result\.json|\.postflight[^/]*|\.return-meta\.json)(?:\/|$)/i

/** File systems take names of 255 bytes; the archive adds a few characters to them. */
const MAX_NAME_BYTES = 200

/**
 * True for a path that can only lie inside its folder, on any system: relative, no `.` or `..`, no backslash, no colon
 * (drives, streams), no control characters, no name that is too long.
 */
export function isInsidePath(value: string): boolean {
  if (value.length > 200 || /[\\:*?"<>|\u0000-\u001f\u007f-\u009f]/.test(value)) return false
  // No part ends in a dot: neither `.` nor `..`, nor a name that Windows would read without the dot.
  return value.split('/').every((part) => part !== '' && !/[. ]$|^ /.test(part) && isShortName(part))
}

function isShortName(name: string): boolean {
  return new TextEncoder().encode(name).length <= MAX_NAME_BYTES
}

/** True for a path that can only lie inside the task folder, and is not one of the reserved names. */
export function isArtifactPath(value: string): boolean {
  return isInsidePath(value) && !RESERVED.test(value)
}
