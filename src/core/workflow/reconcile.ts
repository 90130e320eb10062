import { advance, type Command } from './machine.ts'
import type { Effect, Observation } from './observation.ts'
import { HISTORY_KEPT, type WorkflowState } from './state.ts'

/** The loop of every driver: observe, advance, perform the effects, write the state. */

/** The access to the disk that the loop needs. */
export interface WorkflowPorts {
  /** Observes the files of the current phase. */
  observe(state: WorkflowState): Observation
  /** Performs an effect. Repeating it changes nothing. */
  apply(effect: Effect): void
  /** Writes the whole state to disk. */
  write(state: WorkflowState): void
}

/** One transition adds fewer entries to the history than this. */
const ENTRIES_AT_ONCE = 8

/** The result of the loop. */
export interface Reconciled {
  readonly state: WorkflowState
  readonly command: Exclude<Command['kind'], 'observe'>
}

/**
 * Runs until there is a prompt to give out, nothing to do, or an end. When it returns, the state is on disk. A state is
 * written before the effects of the next transition, so that a crash at any point leaves a state that leads to the same
 * result. It is also written before it has had more transitions than it keeps, so that the history lacks none.
 */
export function reconcile(start: WorkflowState, ports: WorkflowPorts): Reconciled {
  let state = start
  let written = start
  const flush = (): void => {
    if (state === written) return
    ports.write(state)
    written = state
  }
  for (;;) {
    const { state: next, command, effects } = advance(state, ports.observe(state))
    if (effects.length > 0) flush()
    for (const effect of effects) ports.apply(effect)
    state = next
    if (state.sequence - written.sequence > HISTORY_KEPT - ENTRIES_AT_ONCE) flush()
    if (command.kind === 'observe') continue
    flush()
    return { state, command: command.kind }
  }
}
