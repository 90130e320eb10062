import { createRequire } from 'node:module'

/** Loads the workflow's driver from the file beside the hook's own: a stop without a workflow must not pay for it. */

/** The driver. @throws {Error} when the file is not there. */
export function loadWorkflowDriver(): typeof import('./workflow.ts') {
  return createRequire(import.meta.filename)('./workflow.js') as typeof import('./workflow.ts')
}
