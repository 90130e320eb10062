/** Loads what most stops do not need from files of their own, so that they do not pay for it. */

/** The driver of workflows. @throws {Error} when its file is missing. */
export function loadWorkflowDriver(): typeof import('./workflow.ts') {
  return load('./workflow.js')
}

/** The definition of done. @throws {Error} when its file is missing. */
export function loadDone(): typeof import('./done-hook.ts') {
  return load('./done-hook.js')
}

/** `node:module` is loaded here, and not by an import, because most stops do without it. */
function load(bundle: string) {
  return process.getBuiltinModule('node:module').createRequire(import.meta.filename)(bundle)
}
