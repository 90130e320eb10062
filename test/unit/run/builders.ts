/** Runs and observations for tests of the machine. */

import { advance } from '../../../src/run/machine/machine.ts'
import type { Observation, StepResultSeen } from '../../../src/run/machine/observation.ts'
import { newState, type WorkflowState } from '../../../src/run/machine/state.ts'
import { ready } from '../../property/run/arbitraries.ts'

/** The time of everything, in ms since the epoch. */
export const NOW = 1_700_000_000_000
export const NO_SESSIONS = { parentSession: undefined, hostSession: undefined }
/** The task whose run prompts are for. */
export const PLACE = { task: '7', folder: '/f' }

/** What a driver sees: a valid artifact, one with a verdict, and results of steps. */
export const MADE: Partial<Observation> = { artifact: { kind: 'valid' } }
export const PASSED: Partial<Observation> = { artifact: { kind: 'valid', verdict: 'pass' } }
export const FAILED: Partial<Observation> = { artifact: { kind: 'valid', verdict: 'fail' } }
export const DONE: Extract<StepResultSeen, { kind: 'result' }> = { kind: 'result', success: true, archived: false }
export const NOT_DONE = { ...DONE, success: false }

/** A new run of a workflow `flow` with these phases. */
export function begin(...phases: object[]): WorkflowState {
  const { definition } = ready({ name: 'flow', phases })
  return newState(definition, { id: 'wf_1', nowMs: NOW, ...NO_SESSIONS })
}

/** The observation of an empty task folder by a driver that may prompt, after the agent returned; changed by `more`. */
export function seeing(more: Partial<Observation> = {}): Observation {
  return {
    nowMs: NOW,
    task: PLACE.task,
    artifact: { kind: 'absent' },
    stepResults: [],
    steps: undefined,
    returned: true,
    mayPrompt: true,
    ...more,
  }
}

/** The state after these observations in turn. */
export function played(start: WorkflowState, ...seen: Partial<Observation>[]): WorkflowState {
  return seen.reduce((state, one) => advance(state, seeing(one)).state, start)
}

/** The steps in progress, as `step: failed attempts`, with a star if the prompt is out. */
export function workOf({ inWork }: WorkflowState): string[] {
  return inWork.map(({ step, attempts, out }) => `${step + 1}: ${attempts}${out ? ' *' : ''}`)
}
