/** The definition of done in the hook: a bundle of its own, loaded only if there is a `specs/done.yaml`. */

export { doneAtStop, startAll } from '../stop/done-part.ts'
