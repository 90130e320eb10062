/**
 * The commands about markers in one module. Skills run them at every postflight, and opening a file costs a third of a
 * millisecond, so the build makes one chunk of this module and its imports.
 */

export { adopt } from './adopt.ts'
export { bypass } from './bypass.ts'
export { clear } from './clear.ts'
export { create } from './create.ts'
export { inspect } from './inspect.ts'
export { logs } from './logs.ts'
export { step } from './step.ts'
export { wait } from './wait.ts'
