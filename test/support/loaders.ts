/**
 * Replaces the modules that load a bundle, as `vitest.config.ts` says: `src/hook/load-workflow.ts` and
 * `src/io/workflow/load-checklist.ts`. The sources have no bundles.
 */

import * as checklist from '../../src/core/workflow/checklist.ts'
import * as driver from '../../src/hook/workflow.ts'

export const loadWorkflowDriver = (): typeof driver => driver

export const loadChecklist = (): typeof checklist => checklist
