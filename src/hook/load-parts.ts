/** The hook is CommonJS: `node:module`, with which an ES module could load these two files on demand, takes 2 ms. */
declare const require: (bundle: string) => unknown

export function loadWorkflowDriver(): typeof import('./workflow.ts') {
  return require('./workflow.js') as typeof import('./workflow.ts')
}

export function loadDone(): typeof import('../stop/done-part.ts') {
  return require('./done-hook.js') as typeof import('../stop/done-part.ts')
}
