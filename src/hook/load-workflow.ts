import { createRequire } from 'node:module'

/** Loads the driver of workflows from a file of its own, so that a stop without a workflow does not pay for it. */

/** The driver of workflows. @throws {Error} when its file is missing. */
export function loadWorkflowDriver(): typeof import('./workflow.ts') {
  return createRequire(import.meta.filename)('./workflow.js') as typeof import('./workflow.ts')
}
