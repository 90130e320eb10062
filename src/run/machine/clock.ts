import type { WorkflowState } from './state.ts'

/** The working time of a run: its clock stops while the run is stopped or waits for approval. */

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
