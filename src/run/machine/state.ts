import type { Definition } from '../definition/definition.ts'
import type { Values } from '../definition/fields.ts'
import type { Phase } from '../definition/phase-fields.ts'
import type { Transition } from './history.ts'
import { STATE_FIELDS } from './state-fields.ts'

/** The state of a run, and how it begins and enters phases. */

type Table = typeof STATE_FIELDS

/** The state of a run. Its fields are listed in `state-fields.ts`. */
export interface WorkflowState extends Values<Table> {}

/** The number of recent transitions in the state itself. The history file has all of them. */
export const HISTORY_KEPT = 50

/** The id of a new run, the sessions that start it, the values of its inputs, and the time. */
interface Starter {
  readonly id: string
  readonly nowMs: number
  readonly parentSession: string | undefined
  readonly hostSession: string | undefined
  readonly inputs?: Readonly<Record<string, string>>
}

/** The state of a new run, at its first phase. */
export function newState(
  definition: Definition,
  { id, nowMs, parentSession, hostSession, inputs = {} }: Starter,
): WorkflowState {
  const [first] = definition.phases
  const blank: WorkflowState = {
    ...runValues(),
    ...visitValues(first, 1),
    ...{
      id,
      name: definition.name,
      definition,
      parentSession,
      hostSession,
      startedMs: nowMs,
      updatedMs: nowMs,
      inputs,
    },
  }
  return enter(withTransition(blank, { event: 'start', phase: first.id }, nowMs), first, nowMs)
}

type NamesOf<Lifetime> = { [Name in keyof Table]: Table[Name]['lifetime'] extends Lifetime ? Name : never }[keyof Table]

/** The first values of the fields of a run. */
function runValues(): Pick<WorkflowState, NamesOf<'run'>> {
  const values = Object.entries(STATE_FIELDS).flatMap(([name, field]) =>
    field.lifetime === 'run' ? [[name, field.first] as const] : [],
  )
  return Object.fromEntries(values) as ReturnType<typeof runValues>
}

/** The first values of the fields of a visit. */
function visitValues(phase: Phase, visit: number): Pick<WorkflowState, NamesOf<'visit'>> {
  const values = Object.entries(STATE_FIELDS).flatMap(([name, field]) =>
    field.lifetime === 'visit' ? [[name, field.first(phase, visit)] as const] : [],
  )
  return Object.fromEntries(values) as ReturnType<typeof visitValues>
}

/** The state with one more transition in its history. */
export function withTransition(state: WorkflowState, transition: Transition, nowMs: number): WorkflowState {
  const sequence = state.sequence + 1
  const history = [...state.history.slice(1 - HISTORY_KEPT), { n: sequence, timeMs: nowMs, ...transition }]
  return { ...state, sequence, history, updatedMs: nowMs }
}

/** The state after entering a phase: all fields of a visit are reset. `ledBy`: the phase that led there. */
export function enter(
  state: WorkflowState,
  phase: Phase,
  nowMs: number,
  ledBy?: WorkflowState['ledBy'],
): WorkflowState {
  const visit = visitsOf(state, phase.id) + 1
  const visits = { ...state.visits, [phase.id]: visit }
  const { [phase.id]: left, ...unfinished } = state.unfinished
  const skips = left === 'skipped' ? Math.max(0, state.skips - 1) : state.skips
  const entered = { ...settleClock(state, nowMs), ...visitValues(phase, visit), visits, ledBy, unfinished, skips }
  return withTransition(entered, { event: 'enter', phase: phase.id, visit }, nowMs)
}

/** The number of visits of a phase. */
export function visitsOf(state: WorkflowState, id: string): number {
  return Object.hasOwn(state.visits, id) ? Number(state.visits[id]) : 0
}

/** The state with the time until now added to its phase. The clock goes on. */
export function settleClock(state: WorkflowState, nowMs: number): WorkflowState {
  const { clockSinceMs, phase, durations } = state
  if (clockSinceMs === undefined) return { ...state, clockSinceMs: nowMs }
  const spent = phaseMs(state, phase, nowMs)
  return { ...state, clockSinceMs: nowMs, durations: { ...durations, [phase]: spent } }
}

/** The state with its clock stopped. */
export function pauseClock(state: WorkflowState, nowMs: number): WorkflowState {
  if (state.clockSinceMs === undefined) return state
  return { ...settleClock(state, nowMs), clockSinceMs: undefined }
}

/** The time (ms) for which a run has worked on a phase, in all its visits. */
export function phaseMs({ durations, phase, clockSinceMs }: WorkflowState, id: string, nowMs: number): number {
  const before = Object.hasOwn(durations, id) ? Number(durations[id]) : 0
  const running = id === phase && clockSinceMs !== undefined ? nowMs - clockSinceMs : 0
  // A system clock that was set back must not reduce the time.
  return before + Math.max(0, Math.round(running))
}

/** The time (ms) for which a run has worked. */
export function workedMs(state: WorkflowState, nowMs: number): number {
  const others = Object.entries(state.durations).reduce((sum, [id, ms]) => (id === state.phase ? sum : sum + ms), 0)
  return others + phaseMs(state, state.phase, nowMs)
}
