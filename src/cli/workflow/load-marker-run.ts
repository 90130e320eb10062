import { createRequire } from 'node:module'

/**
 * Loads `marker-run.ts`, which the build keeps in a file of its own. The commands about markers run in every postflight,
 * so they load the code of workflows only for a workflow's marker.
 */
export function loadMarkerRun(): typeof import('./marker-run.ts') {
  return createRequire(import.meta.filename)('./marker-run.js') as typeof import('./marker-run.ts')
}
