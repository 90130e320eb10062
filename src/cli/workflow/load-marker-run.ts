import { createRequire } from 'node:module'

/**
 * Loads what knows runs from a file of its own beside this one, at once and only where a workflow's marker lies: the
 * commands about markers run in every postflight and must not pay for workflows.
 */

/** The module. */
export function loadMarkerRun(): typeof import('./marker-run.ts') {
  return createRequire(import.meta.filename)('./marker-run.js') as typeof import('./marker-run.ts')
}
