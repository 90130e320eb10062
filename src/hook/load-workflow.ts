/**
 * Loads what most stops do not need from files of their own, so that they do not pay for it. The bundles are CommonJS; `require`
 * itself would be resolved when they are built.
 */

/** The driver of workflows. @throws {Error} when its file is missing. */
export function loadWorkflowDriver(): typeof import('./workflow.ts') {
  return module.require('./workflow.js')
}

/** The definition of done. @throws {Error} when its file is missing. */
export function loadDone(): typeof import('./done-hook.ts') {
  return module.require('./done.js')
}
