/**
 * Replaces `src/hook/load-workflow.ts` and `src/cli/workflow/load-marker-run.ts`, as `vitest.config.ts` says. The built
 * files load a bundle that lies beside them; the sources have none.
 */

import * as markerRun from '../../src/cli/workflow/marker-run.ts'
import * as driver from '../../src/hook/workflow.ts'

export const loadWorkflowDriver = (): typeof driver => driver
export const loadMarkerRun = (): typeof markerRun => markerRun
