import { createRequire } from 'node:module'

/** Loads what most stops do not need from files of their own, so that they do not pay for it. */

/** The driver of workflows. @throws {Error} when its file is missing. */
export function loadWorkflowDriver(): typeof import('./workflow.ts') {
  return createRequire(import.meta.filename)('./workflow.js') as typeof import('./workflow.ts')
}

/** The definition of done. @throws {Error} when its file is missing. */
export function loadDone(): typeof import('./done.ts') {
  return createRequire(import.meta.filename)('./done.js') as typeof import('./done.ts')
}
