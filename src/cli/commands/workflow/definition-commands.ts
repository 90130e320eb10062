/** The commands that read a definition in one module: the build makes one chunk of it and its imports. */

export { graph } from './graph.ts'
export { simulate } from './simulate.ts'
export { start } from './start.ts'
export { validate } from './validate.ts'
