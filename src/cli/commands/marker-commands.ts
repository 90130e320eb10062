/**
 * The commands about markers, as one module: skills run them at every postflight, and each file that is opened costs a
 * third of a millisecond, so the build makes one chunk of this and all that it imports.
 */

export { adopt } from './adopt.ts'
export { bypass } from './bypass.ts'
export { clear } from './clear.ts'
export { create } from './create.ts'
export { explain } from './explain.ts'
export { inspect } from './inspect.ts'
export { logs } from './logs.ts'
export { step } from './step.ts'
