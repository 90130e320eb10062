import { isJsonObject, parseJson } from '../../kernel/values.ts'
import { findPhase } from '../definition/definition.ts'
import { objectOf, WRONG, wrongKeys } from '../definition/fields.ts'
import type { Phase } from '../definition/phase-fields.ts'
import { currentWork } from './position.ts'
import { limitGranted, type WorkflowState } from './state.ts'
import { STATE_FIELDS } from './state-fields.ts'

const STATE_VERSION = 1
/** In bytes. */
export const STATE_MAX_BYTES = 33_554_432

type Written = { readonly key: string; write(value: unknown): unknown }

export function formatState(state: WorkflowState): string {
  const { step, attempts, maxAttempts } = currentWork(state)
  const fields = Object.entries<Written>(STATE_FIELDS).map(([name, { key, write }]) => {
    const value = state[name as keyof WorkflowState]
    return [key, value === undefined ? null : write(value)]
  })
  // For other readers; we do not read them back.
  const following = { current_step: step, step_attempts: attempts, max_step_attempts: maxAttempts }
  return `${JSON.stringify({ version: STATE_VERSION, ...Object.fromEntries(fields), ...following })}\n`
}

export type StateProblem = Readonly<{ code: 'not-json' | 'version' | 'shape'; detail: string }>

const readState = objectOf(STATE_FIELDS)

/** Never throws. */
export function parseState(text: string): WorkflowState | StateProblem {
  if (isTooDeep(text)) return { code: 'shape', detail: `nested more than ${MAX_LEVELS} levels deep` }
  const json = parseJson(text)
  if ('fault' in json) return { code: 'not-json', detail: json.fault }
  const { value } = json
  if (!isJsonObject(value)) return { code: 'shape', detail: 'object' }
  if (value.version !== STATE_VERSION) return { code: 'version', detail: String(value.version) }
  const state = readState(value)
  if (state === WRONG) return { code: 'shape', detail: wrongKeys(STATE_FIELDS, value).join(', ') }
  const phase = findPhase(state.definition, state.phase)
  if (phase === undefined) return { code: 'shape', detail: 'definition' }
  return isWorkSound(state) ? clamped(state, phase) : { code: 'shape', detail: 'in_work, ended_steps' }
}

/** Deeper JSON takes seconds to be parsed, and cannot be written again. */
const MAX_LEVELS = 1_000

function isTooDeep(text: string): boolean {
  // A loop over all characters would take longer than to parse them.
  const unescaped = text.replaceAll('\\\\', '').replaceAll('\\"', '')
  const brackets = unescaped.replace(/"[^"]*"|[^"[\]{}]+/g, '')
  let level = 0
  for (const bracket of brackets) {
    level += bracket === '[' || bracket === '{' ? 1 : -1
    if (level > MAX_LEVELS) return true
  }
  return false
}

function isWorkSound({ inWork, endedSteps, totalSteps }: WorkflowState): boolean {
  const steps = [...inWork, ...endedSteps].map(({ step }) => step)
  return new Set(steps).size === steps.length && steps.every((step) => step < totalSteps)
}

/** Corrects a hand-edited file: no resume grants more than this. */
function clamped(state: WorkflowState, phase: Phase): WorkflowState {
  const inWork = state.inWork.map((step) => ({
    ...step,
    maxAttempts: Math.min(step.maxAttempts, step.attempts + phase.maxStepAttempts),
  }))
  const maxPhaseAttempts = Math.min(state.maxPhaseAttempts, state.phaseAttempts + phase.maxAttempts)
  return limitGranted({ ...state, inWork, maxPhaseAttempts })
}

export function isState(read: WorkflowState | StateProblem): read is WorkflowState {
  return !('code' in read)
}
