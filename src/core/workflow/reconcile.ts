import { advance, type Command } from './machine.ts'
import type { Effect, Observation } from './observation.ts'
import { HISTORY_KEPT, type WorkflowState } from './state.ts'

/** The loop that every driver runs: observe, advance, do the effects, write the state. */

/** The world as the loop needs it. */
export interface WorkflowPorts {
  /** Looks at what the state's phase asks for. */
  observe(state: WorkflowState): Observation
  /** Does an effect; doing it again changes nothing. */
  apply(effect: Effect): void
  /** Puts the state on disk, whole. */
  write(state: WorkflowState): void
}

/** One transition makes fewer entries in the history than this. */
const ENTRIES_AT_ONCE = 8

/** What the loop came to. */
export interface Reconciled {
  readonly state: WorkflowState
  readonly command: Exclude<Command['kind'], 'observe'>
}

/**
 * Goes on until there is a prompt to give out, nothing to do, or an end. When it returns, the state is on disk. A state
 * is written before the effects of the transition that follows it, so that a crash anywhere leaves a state from which
 * the same way is found again; and before it has had more transitions than it remembers, so that none is missing in the
 * history.
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
