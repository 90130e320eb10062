/** The commands that steer a run in one module: the build makes one chunk of it and its imports. */

export { approve, reject } from './approve.ts'
export { retry, skip } from './retry.ts'
