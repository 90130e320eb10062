/**
 * The hook is built as CommonJS, with these two files beside it: most stops need neither. `node:module`, which could load them
 * from an ES module, takes 2 ms.
 */
declare const require: (bundle: string) => unknown

export function loadWorkflowDriver(): typeof import('./workflow.ts') {
  return require('./workflow.js') as typeof import('./workflow.ts')
}

export function loadDone(): typeof import('../stop/done-part.ts') {
  return require('./done-hook.js') as typeof import('../stop/done-part.ts')
}
