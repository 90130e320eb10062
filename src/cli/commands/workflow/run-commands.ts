/** The commands about runs in one module: the build makes one chunk of it and its imports. */

export { abort } from './abort.ts'
export { history } from './history.ts'
export { next } from './next.ts'
export { status } from './status.ts'
export { stop } from './stop.ts'
