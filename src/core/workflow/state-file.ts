import { isJsonObject } from '../json-object.ts'
import { fromIso, toIso } from '../time.ts'
import { findPhase, MAX_PHASE_STEPS, readDefinition } from './definition.ts'
import { type HistoryEntry, RUN_OUTCOMES, type Transition, type WorkflowState } from './state.ts'

/** The state of a run as it lies on disk: one format for every driver. In the file snake_case, in the code camelCase. */

/** The format that this version reads and writes. */
const STATE_VERSION = 1

/** The state's text on disk. */
export function formatState(state: WorkflowState): string {
  const optional = (value: string | undefined): string | null => value ?? null
  return `${JSON.stringify({
    version: STATE_VERSION,
    name: state.name,
    active: state.active,
    outcome: optional(state.outcome),
    why: optional(state.why),
    phase: state.phase,
    phase_attempts: state.phaseAttempts,
    max_phase_attempts: state.maxPhaseAttempts,
    current_step: state.currentStep,
    total_steps: state.totalSteps,
    step_attempts: state.stepAttempts,
    max_step_attempts: state.maxStepAttempts,
    prompted: state.prompted,
    prompted_at: state.promptedMs === undefined ? null : toIso(state.promptedMs),
    repeats: state.repeats,
    clearing: state.clearing,
    begun: state.begun,
    last_failure: optional(state.lastFailure),
    stop_requested: state.stopRequestedMs === undefined ? null : toIso(state.stopRequestedMs),
    parent_session_id: optional(state.parentSession),
    host_session: optional(state.hostSession),
    started_at: toIso(state.startedMs),
    updated_at: toIso(state.updatedMs),
    skips: state.skips,
    prompts: state.prompts,
    sequence: state.sequence,
    visits: state.visits,
    visits_granted: state.visitsGranted,
    steps_known: state.stepsKnown,
    taken_steps: state.takenSteps ?? null,
    history: state.history.map(historyFields),
    definition: state.snapshot,
  })}\n`
}

/** A history entry as it is written: snake_case is the same here, but for the time. */
export function historyFields({ n, timeMs, ...transition }: HistoryEntry): Record<string, unknown> {
  return { n, time: toIso(timeMs), ...transition }
}

/** Reads a history entry back; undefined for what is none. */
export function readHistoryEntry(value: unknown): HistoryEntry | undefined {
  if (!isJsonObject(value)) return undefined
  const { n, time, ...rest } = value
  if (typeof n !== 'number' || typeof rest.event !== 'string' || typeof rest.phase !== 'string') return undefined
  return { ...(rest as unknown as Transition), n, timeMs: (typeof time === 'string' ? fromIso(time) : undefined) ?? 0 }
}

/** Why a state file cannot be used. */
export type StateProblem =
  | { readonly code: 'not-json'; readonly detail: string }
  | { readonly code: 'version'; readonly detail: string }
  | { readonly code: 'shape'; readonly detail: string }

/** Reads a state file's text. Never throws: what it cannot use it names. */
export function parseState(text: string): WorkflowState | StateProblem {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { code: 'not-json', detail: (error as Error).message }
  }
  if (!isJsonObject(value)) return { code: 'shape', detail: 'object' }
  if (value.version !== STATE_VERSION) return { code: 'version', detail: String(value.version) }
  return fromFields(value)
}

/** True for what `parseState` could use. */
export function isState(read: WorkflowState | StateProblem): read is WorkflowState {
  return !('code' in read)
}

function fromFields(fields: Record<string, unknown>): WorkflowState | StateProblem {
  const wrong: string[] = []
  // What is wrong is given on as it is: the state that it would be part of is not used then.
  const must = <T>(name: string, accept: (value: unknown) => value is T): T => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!accept(value)) wrong.push(name)
    return value as T
  }
  const count = (name: string): number => must(name, isCount)
  const flag = (name: string): boolean => must(name, isFlag)
  const text = (name: string): string | undefined => must(name, isOptionalText) ?? undefined
  const time = (name: string): number | undefined => {
    const value: unknown = text(name)
    return typeof value === 'string' ? fromIso(value) : undefined
  }
  const outcome = text('outcome')
  const definition = readDefinition(fields.definition)
  const phase = must('phase', isText)
  const state = {
    name: must('name', isText),
    snapshot: fields.definition,
    active: flag('active'),
    phase,
    visits: must('visits', isCounts),
    visitsGranted: count('visits_granted'),
    phaseAttempts: count('phase_attempts'),
    maxPhaseAttempts: count('max_phase_attempts'),
    currentStep: count('current_step'),
    totalSteps: must('total_steps', isStepCount),
    takenSteps: must('taken_steps', isOptionalTexts) ?? undefined,
    stepsKnown: flag('steps_known'),
    stepAttempts: count('step_attempts'),
    maxStepAttempts: count('max_step_attempts'),
    prompted: flag('prompted'),
    promptedMs: time('prompted_at'),
    repeats: count('repeats'),
    clearing: flag('clearing'),
    begun: flag('begun'),
    lastFailure: text('last_failure'),
    stopRequestedMs: time('stop_requested'),
    parentSession: text('parent_session_id'),
    hostSession: text('host_session'),
    outcome: RUN_OUTCOMES.find((one) => one === outcome),
    why: text('why'),
    startedMs: time('started_at') ?? 0,
    updatedMs: time('updated_at') ?? 0,
    skips: count('skips'),
    prompts: count('prompts'),
    sequence: count('sequence'),
  }
  const history = must('history', isList)
  if (definition === undefined || findPhase(definition, phase) === undefined) {
    return { code: 'shape', detail: [...wrong, 'definition'].join(', ') }
  }
  if (wrong.length > 0) return { code: 'shape', detail: wrong.join(', ') }
  return { ...state, definition, history: history.flatMap((one) => readHistoryEntry(one) ?? []) }
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0
}

/** More would be more prompts than the definition allows. */
function isStepCount(value: unknown): value is number {
  return isCount(value) && value <= MAX_PHASE_STEPS
}

function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean'
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isOptionalText(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value)
}

function isOptionalTexts(value: unknown): value is string[] | null {
  return value === null || (isList(value) && value.every(isText))
}

function isCounts(value: unknown): value is Record<string, number> {
  return isJsonObject(value) && Object.values(value).every(isCount)
}
