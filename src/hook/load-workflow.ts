import { createRequire } from 'node:module'

/** Loads the driver of workflows from a file of its own, so that a stop without one does not pay for it. @throws {Error} if that file is missing. */
export function loadWorkflowDriver(): typeof import('./workflow.ts') {
  return createRequire(import.meta.filename)('./workflow.js') as typeof import('./workflow.ts')
}
