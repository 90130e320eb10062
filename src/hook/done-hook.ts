/** Loaded only if there is a `specs/done.yaml`. */

export { doneAtStop, startAll } from '../stop/done-part.ts'
