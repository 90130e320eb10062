import type { Definition, Phase } from './definition.ts'

/** The state of a run (DESIGN section 8), as the machine sees it; `state-file.ts` says how it lies on disk. */

/** How many of the last transitions the state itself holds; all of them are in the history file. */
export const HISTORY_KEPT = 50

export const RUN_OUTCOMES = ['completed', 'stopped', 'stalled', 'failed', 'aborted'] as const

/** How a run ended. */
export type RunOutcome = (typeof RUN_OUTCOMES)[number]

/** Outcomes from which a run can be taken up again. */
const RESUMABLE: readonly (string | undefined)[] = ['stopped', 'stalled', 'failed'] satisfies RunOutcome[]

/** True for an outcome from which a run can be taken up again. */
export function isResumableOutcome(outcome: string | undefined): boolean {
  return RESUMABLE.includes(outcome)
}

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
  readonly outcome?: RunOutcome
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
  /** When the last prompt went out. */
  readonly promptedMs: number | undefined
  /** How often that prompt was given to somebody who had asked before it went out. */
  readonly repeats: number
  /** True from entering a phase again until its old artifact is out of the way. */
  readonly clearing: boolean
  /** True once anything was asked for in this visit. */
  readonly begun: boolean
  readonly lastFailure: string | undefined
  readonly stopRequestedMs: number | undefined
  readonly parentSession: string | undefined
  readonly hostSession: string | undefined
  readonly outcome: RunOutcome | undefined
  /** Why it ended as it did, in words. */
  readonly why: string | undefined
  readonly startedMs: number
  readonly updatedMs: number
  /** Steps and artifacts that it went on without, so far. */
  readonly skips: number
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
  const [first] = definition.phases
  const blank: WorkflowState = {
    name: definition.name,
    definition,
    snapshot,
    active: true,
    ...beginVisit(first, 1),
    visits: {},
    visitsGranted: 0,
    promptedMs: undefined,
    repeats: 0,
    stopRequestedMs: undefined,
    parentSession: starter.parentSession,
    hostSession: starter.hostSession,
    outcome: undefined,
    why: undefined,
    startedMs: starter.nowMs,
    updatedMs: starter.nowMs,
    skips: 0,
    prompts: 0,
    sequence: 0,
    history: [],
  }
  const started = withTransition(blank, { event: 'start', phase: first.id }, starter.nowMs)
  return enter(started, first, starter.nowMs)
}

/** The state with one more transition in its history. */
export function withTransition(state: WorkflowState, transition: Transition, nowMs: number): WorkflowState {
  const sequence = state.sequence + 1
  const history = [...state.history.slice(1 - HISTORY_KEPT), { n: sequence, timeMs: nowMs, ...transition }]
  return { ...state, sequence, history, updatedMs: nowMs }
}

/** The state on entering a phase: everything that belongs to a visit begins anew. */
export function enter(state: WorkflowState, phase: Phase, nowMs: number): WorkflowState {
  const visit = visitsOf(state, phase.id) + 1
  return withTransition(
    {
      ...state,
      ...beginVisit(phase, visit),
      visits: { ...state.visits, [phase.id]: visit },
    },
    { event: 'enter', phase: phase.id, visit },
    nowMs,
  )
}

/** What belongs to one visit of a phase, as it begins. */
function beginVisit(phase: Phase, visit: number) {
  return {
    phase: phase.id,
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
  }
}

/** How often a phase was entered. */
export function visitsOf(state: WorkflowState, id: string): number {
  return Object.hasOwn(state.visits, id) ? Number(state.visits[id]) : 0
}
