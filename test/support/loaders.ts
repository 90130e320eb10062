/**
 * Replaces `src/hook/load-workflow.ts`, as `vitest.config.ts` says. The built hook loads a bundle that lies beside it; the
 * sources have none.
 */

import * as driver from '../../src/hook/workflow.ts'

export const loadWorkflowDriver = (): typeof driver => driver
