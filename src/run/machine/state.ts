import type { Definition } from '../definition/definition.ts'
import type { Values } from '../definition/fields.ts'
import type { Phase } from '../definition/phase-fields.ts'
import { type RunOutcome, STATE_FIELDS, type Transition } from './state-fields.ts'

type Table = typeof STATE_FIELDS

export interface WorkflowState extends Values<Table> {}

/** The sessions that drive it. */
export interface Runner extends Pick<WorkflowState, 'parentSession' | 'hostSession'> {}

export type Starter = Runner &
  Pick<WorkflowState, 'id'> &
  Partial<Pick<WorkflowState, 'inputs' | 'definitionFile'>> & { readonly nowMs: number }

export function newState(definition: Definition, { nowMs, inputs = {}, definitionFile, ...starter }: Starter) {
  const [first] = definition.phases
  const blank: WorkflowState = {
    ...firstValues('run', first, 1),
    ...firstValues('visit', first, 1),
    ...starter,
    name: definition.name,
    definition,
    definitionFile,
    inputs,
    startedMs: nowMs,
    updatedMs: nowMs,
  }
  return enter(withTransition(blank, { event: 'start', phase: first.id }, nowMs), first, nowMs)
}

type NamesOf<Lifetime> = { [Name in keyof Table]: Table[Name]['lifetime'] extends Lifetime ? Name : never }[keyof Table]

function firstValues<Lifetime extends 'run' | 'visit'>(lifetime: Lifetime, phase: Phase, visit: number) {
  const values = Object.entries(STATE_FIELDS).flatMap(([name, field]) =>
    'first' in field && field.lifetime === lifetime ? [[name, field.first(phase, visit)] as const] : [],
  )
  return Object.fromEntries(values) as Pick<WorkflowState, NamesOf<Lifetime>>
}

export function withTransition(state: WorkflowState, transition: Transition, nowMs: number): WorkflowState {
  const sequence = state.sequence + 1
  const entry = { n: sequence, timeMs: nowMs, ...transition }
  return { ...state, sequence, history: [...state.history, entry], updatedMs: nowMs }
}

export function enter(state: WorkflowState, phase: Phase, nowMs: number, ledBy?: WorkflowState['ledBy']) {
  const visit = visitsOf(state, phase.id) + 1
  const visits = { ...state.visits, [phase.id]: visit }
  const { [phase.id]: left, ...unfinished } = state.unfinished
  const skips = left === 'skipped' ? Math.max(0, state.skips - 1) : state.skips
  const first = firstValues('visit', phase, visit)
  const entered = { ...countElapsed(state, nowMs), ...first, visits, ledBy, unfinished, skips }
  return withTransition(entered, { event: 'enter', phase: phase.id, visit }, nowMs)
}

export function isPrompted({ stage }: WorkflowState): boolean {
  return stage === 'prompted' || stage === 'came-back'
}

/** Whether the visit had its first prompt. */
export function hasBegun({ stage }: WorkflowState): boolean {
  return stage !== 'archiving' && stage !== 'entered'
}

export function isArchiving({ stage }: WorkflowState): boolean {
  return stage === 'archiving' || stage === 'archiving-rejected'
}

/** Returns the stage without the current prompt. */
export function withdrawn(state: WorkflowState): WorkflowState['stage'] {
  return isPrompted(state) ? 'between-prompts' : state.stage
}

export function visitsOf(state: WorkflowState, id: string): number {
  return Object.hasOwn(state.visits, id) ? Number(state.visits[id]) : 0
}

/** No resume grants more visits, and a state file may have been edited. */
export function limitGranted(state: WorkflowState): WorkflowState {
  const beyond = state.definition.phases.map(({ id, maxVisits }) => visitsOf(state, id) - maxVisits)
  return { ...state, visitsGranted: Math.min(state.visitsGranted, Math.max(0, 1 + Math.max(...beyond))) }
}

export function countElapsed(state: WorkflowState, nowMs: number): WorkflowState {
  const { clockSinceMs, phase, durations } = state
  if (clockSinceMs === undefined) return { ...state, clockSinceMs: nowMs }
  const spent = phaseMs(state, phase, nowMs)
  return { ...state, clockSinceMs: nowMs, durations: { ...durations, [phase]: spent } }
}

export function pauseClock(state: WorkflowState, nowMs: number): WorkflowState {
  if (state.clockSinceMs === undefined) return state
  return { ...countElapsed(state, nowMs), clockSinceMs: undefined }
}

export function end(state: WorkflowState, outcome: RunOutcome, nowMs: number, why?: string): WorkflowState {
  const ending = { event: 'end', phase: state.phase, outcome, detail: why } as const
  const ended = withTransition(pauseClock(state, nowMs), ending, nowMs)
  return { ...ended, active: false, outcome, why, stopRequestedMs: undefined }
}

/** In ms, of all visits. */
export function phaseMs({ durations, phase, clockSinceMs }: WorkflowState, id: string, nowMs: number): number {
  const before = Object.hasOwn(durations, id) ? Number(durations[id]) : 0
  const running = id === phase && clockSinceMs !== undefined ? nowMs - clockSinceMs : 0
  // A clock that was set back must not reduce the time.
  return before + Math.max(0, Math.round(running))
}

export function workedMs(state: WorkflowState, nowMs: number): number {
  const others = Object.entries(state.durations).reduce((sum, [id, ms]) => (id === state.phase ? sum : sum + ms), 0)
  return others + phaseMs(state, state.phase, nowMs)
}
