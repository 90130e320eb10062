import { fromIso, toIso } from '../time.ts'
import { type Definition, firstPhase, isRecord, readDefinition } from './definition.ts'

/** The state of a run (DESIGN section 8): one format for every driver. In the file snake_case, here camelCase. */

/** The format that this version reads and writes. */
export const STATE_VERSION = 1

/** How many of the last transitions the state itself holds; all of them are in the history file. */
const HISTORY_KEPT = 50

export const OUTCOMES = ['completed', 'stopped', 'stalled', 'failed', 'aborted'] as const

/** How a run ended. */
export type Outcome = (typeof OUTCOMES)[number]

/** What happened in a transition. */
export type TransitionEvent =
  | 'start'
  | 'enter'
  | 'prompt'
  | 'retry'
  | 'step-done'
  | 'step-failed'
  | 'step-skipped'
  | 'pass'
  | 'fail'
  | 'warn'
  | 'stop-request'
  | 'resume'
  | 'end'

/** One line of the history. `step` and `attempt` count from 1, as people read them. */
export interface Transition {
  readonly event: TransitionEvent
  readonly phase: string
  readonly visit?: number
  readonly step?: number
  readonly attempt?: number
  readonly outcome?: Outcome
  readonly detail?: string
}

/** A transition with its number, from 1, and its time. */
export interface HistoryEntry extends Transition {
  readonly n: number
  readonly timeMs: number
}

/** The state of a run. Attempts and steps count from 0. */
export interface WorkflowState {
  readonly name: string
  readonly definition: Definition
  /** The definition as it stands in the file; written back as it was read. */
  readonly snapshot: unknown
  readonly active: boolean
  readonly phase: string
  /** How often each phase was entered. */
  readonly visits: Readonly<Record<string, number>>
  /** Entries beyond `max_visits` that resumes have granted. */
  readonly visitsGranted: number
  /** Attempts at the phase's own prompt that came to nothing, in this visit. */
  readonly phaseAttempts: number
  /** Grows by the definition's figure with each resume after the attempts were spent: no count ever goes back. */
  readonly maxPhaseAttempts: number
  readonly currentStep: number
  readonly totalSteps: number
  /** Steps that were taken from an artifact, as they were then. */
  readonly takenSteps: readonly string[] | undefined
  /** True once the phase's steps are known in this visit. */
  readonly stepsKnown: boolean
  readonly stepAttempts: number
  readonly maxStepAttempts: number
  /** True while a prompt for the current attempt is out. */
  readonly prompted: boolean
  /** True from entering a phase again until its old artifact is out of the way. */
  readonly clearing: boolean
  /** True once anything was asked for in this visit. */
  readonly begun: boolean
  readonly lastFailure: string | undefined
  readonly stopRequestedMs: number | undefined
  readonly parentSession: string | undefined
  readonly hostSession: string | undefined
  readonly outcome: Outcome | undefined
  /** Why it ended as it did, in words. */
  readonly why: string | undefined
  readonly startedMs: number
  readonly updatedMs: number
  /** Prompts given out so far. */
  readonly prompts: number
  /** The number of the last transition. */
  readonly sequence: number
  readonly history: readonly HistoryEntry[]
}

/** Who starts a run. */
export interface Starter {
  readonly nowMs: number
  readonly parentSession: string | undefined
  readonly hostSession: string | undefined
}

/** The state of a run that starts now, at its first phase. */
export function newState(definition: Definition, snapshot: unknown, starter: Starter): WorkflowState {
  const first = firstPhase(definition)
  const blank: WorkflowState = {
    name: definition.name,
    definition,
    snapshot,
    active: true,
    phase: first.id,
    visits: {},
    visitsGranted: 0,
    phaseAttempts: 0,
    maxPhaseAttempts: first.maxAttempts,
    currentStep: 0,
    totalSteps: 0,
    takenSteps: undefined,
    stepsKnown: false,
    stepAttempts: 0,
    maxStepAttempts: first.maxStepAttempts,
    prompted: false,
    clearing: false,
    begun: false,
    lastFailure: undefined,
    stopRequestedMs: undefined,
    parentSession: starter.parentSession,
    hostSession: starter.hostSession,
    outcome: undefined,
    why: undefined,
    startedMs: starter.nowMs,
    updatedMs: starter.nowMs,
    prompts: 0,
    sequence: 0,
    history: [],
  }
  const started = record(blank, { event: 'start', phase: first.id }, starter.nowMs)
  return enter(started, first.id, starter.nowMs)
}

/** The state with one more transition in its history. */
export function record(state: WorkflowState, transition: Transition, nowMs: number): WorkflowState {
  const sequence = state.sequence + 1
  const history = [...state.history.slice(1 - HISTORY_KEPT), { n: sequence, timeMs: nowMs, ...transition }]
  return { ...state, sequence, history, updatedMs: nowMs }
}

/** The state on entering a phase: everything that belongs to a visit begins anew. */
export function enter(state: WorkflowState, id: string, nowMs: number): WorkflowState {
  const phase = state.definition.phases.find((one) => one.id === id) ?? firstPhase(state.definition)
  const visit = visitsOf(state, phase.id) + 1
  return record(
    {
      ...state,
      phase: phase.id,
      visits: { ...state.visits, [phase.id]: visit },
      phaseAttempts: 0,
      maxPhaseAttempts: phase.maxAttempts,
      currentStep: 0,
      totalSteps: 0,
      takenSteps: undefined,
      stepsKnown: phase.steps === undefined,
      stepAttempts: 0,
      maxStepAttempts: phase.maxStepAttempts,
      prompted: false,
      clearing: visit > 1,
      begun: false,
      lastFailure: undefined,
    },
    { event: 'enter', phase: phase.id, visit },
    nowMs,
  )
}

/** How often a phase was entered. */
export function visitsOf(state: WorkflowState, id: string): number {
  return Object.hasOwn(state.visits, id) ? (state.visits[id] ?? 0) : 0
}

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
    clearing: state.clearing,
    begun: state.begun,
    last_failure: optional(state.lastFailure),
    stop_requested: state.stopRequestedMs === undefined ? null : toIso(state.stopRequestedMs),
    parent_session_id: optional(state.parentSession),
    host_session: optional(state.hostSession),
    started_at: toIso(state.startedMs),
    updated_at: toIso(state.updatedMs),
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
  if (!isRecord(value)) return undefined
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
  if (!isRecord(value)) return { code: 'shape', detail: 'object' }
  if (value.version !== STATE_VERSION) return { code: 'version', detail: String(value.version) }
  return fromFields(value)
}

/** True for what `parseState` could use. */
export function isState(read: WorkflowState | StateProblem): read is WorkflowState {
  return !('code' in read)
}

function fromFields(fields: Record<string, unknown>): WorkflowState | StateProblem {
  const wrong: string[] = []
  const must = <T>(name: string, accept: (value: unknown) => value is T, fallback: T): T => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (accept(value)) return value
    wrong.push(name)
    return fallback
  }
  const count = (name: string): number => must(name, isCount, 0)
  const flag = (name: string): boolean => must(name, isFlag, false)
  const text = (name: string): string | undefined => must(name, isOptionalText, null) ?? undefined
  const time = (name: string): number | undefined => {
    const value = text(name)
    return value === undefined ? undefined : fromIso(value)
  }
  const outcome = text('outcome')
  const definition = readDefinition(fields.definition)
  const phase = must('phase', isText, '')
  const state = {
    name: must('name', isText, ''),
    snapshot: fields.definition,
    active: flag('active'),
    phase,
    visits: must('visits', isCounts, {}),
    visitsGranted: count('visits_granted'),
    phaseAttempts: count('phase_attempts'),
    maxPhaseAttempts: count('max_phase_attempts'),
    currentStep: count('current_step'),
    totalSteps: count('total_steps'),
    takenSteps: must('taken_steps', isOptionalTexts, null) ?? undefined,
    stepsKnown: flag('steps_known'),
    stepAttempts: count('step_attempts'),
    maxStepAttempts: count('max_step_attempts'),
    prompted: flag('prompted'),
    clearing: flag('clearing'),
    begun: flag('begun'),
    lastFailure: text('last_failure'),
    stopRequestedMs: time('stop_requested'),
    parentSession: text('parent_session_id'),
    hostSession: text('host_session'),
    outcome: OUTCOMES.find((one) => one === outcome),
    why: text('why'),
    startedMs: time('started_at') ?? 0,
    updatedMs: time('updated_at') ?? 0,
    prompts: count('prompts'),
    sequence: count('sequence'),
    history: must('history', Array.isArray, []).flatMap((one: unknown) => readHistoryEntry(one) ?? []),
  }
  if (definition === undefined || !definition.phases.some((one) => one.id === phase)) wrong.push('definition')
  if (definition === undefined || wrong.length > 0) return { code: 'shape', detail: wrong.join(', ') }
  return { ...state, definition }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
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

function isOptionalTexts(value: unknown): value is string[] | null {
  return value === null || (Array.isArray(value) && value.every(isText))
}

function isCounts(value: unknown): value is Record<string, number> {
  return isRecord(value) && Object.values(value).every(isCount)
}
