/** The commands that read a definition, as one module: the build makes one chunk of this and all that it imports. */

export { graph } from './graph.ts'
export { start } from './start.ts'
export { validate } from './validate.ts'
