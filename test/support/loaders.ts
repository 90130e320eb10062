/** Replaces `src/hook/load-workflow.ts`, which loads a bundle, as `vitest.config.ts` says. The sources have no bundles. */

import * as driver from '../../src/hook/workflow.ts'

export const loadWorkflowDriver = (): typeof driver => driver
