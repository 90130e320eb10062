/** Runs and observations for tests of the machine. */

import type { Observation } from '../../src/core/workflow/observation.ts'
import { newState, type WorkflowState } from '../../src/core/workflow/state.ts'
import { ready } from '../property/workflow-arbitraries.ts'

/** When everything happens (ms since the epoch). */
export const NOW = 1_700_000_000_000
export const NOBODY = { parentSession: undefined, hostSession: undefined }

/** A run that begins, of a workflow `flow` with these phases. */
export function begin(...phases: object[]): WorkflowState {
  const { definition } = ready({ name: 'flow', phases })
  return newState(definition, { nowMs: NOW, ...NOBODY })
}

/** What is seen where nothing lies there, by one who came back and may be prompted; but for `more`. */
export function seeing(more: Partial<Observation> = {}): Observation {
  return {
    nowMs: NOW,
    artifact: { kind: 'absent' },
    stepResult: { kind: 'absent' },
    steps: undefined,
    returned: true,
    mayPrompt: true,
    ...more,
  }
}
