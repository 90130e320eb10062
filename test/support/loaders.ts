/** Replaces `src/hook/load-parts.ts`, which loads bundles, as `vitest.config.ts` says. The sources have no bundles. */

import * as driver from '../../src/hook/workflow.ts'
import * as done from '../../src/stop/done-part.ts'

export const loadWorkflowDriver = (): typeof driver => driver
export const loadDone = (): typeof done => done
