/** Runs and observations for tests of the machine. */

import type { Observation } from '../../../src/run/machine/observation.ts'
import { newState, type WorkflowState } from '../../../src/run/machine/state.ts'
import { ready } from '../../property/run/arbitraries.ts'

/** The time of everything, in ms since the epoch. */
export const NOW = 1_700_000_000_000
/** No known sessions. */
export const NO_SESSIONS = { parentSession: undefined, hostSession: undefined }

/** A new run of a workflow `flow` with these phases. */
export function begin(...phases: object[]): WorkflowState {
  const { definition } = ready({ name: 'flow', phases })
  return newState(definition, { id: 'wf_1', nowMs: NOW, ...NO_SESSIONS })
}

/** The observation of an empty task folder by a driver that may prompt, after the agent returned; changed by `more`. */
export function seeing(more: Partial<Observation> = {}): Observation {
  return {
    nowMs: NOW,
    artifact: { kind: 'absent' },
    stepResults: [],
    steps: undefined,
    returned: true,
    mayPrompt: true,
    ...more,
  }
}
