import { advance } from './machine.ts'
import type { Effect, Observation } from './observation.ts'
import { currentPhase } from './position.ts'
import type { Command } from './prompting.ts'
import { HISTORY_KEPT, type WorkflowState } from './state.ts'

/** The loop of every driver: observe, advance, perform the effects, write the state. */

/** The access to the disk that the loop needs. */
export interface WorkflowPorts {
  /** Observes the files of the current phase. */
  observe(state: WorkflowState): Observation
  /** Performs an effect. Repeating it changes nothing. */
  apply(effect: Effect): void
  /** Adds a state's newest transitions to the history on disk. The state itself is not written. */
  record(state: WorkflowState): void
  /** Writes the whole state to disk, and its newest transitions before it. */
  write(state: WorkflowState): void
  /** True when the driver must answer now: a stop hook has a time limit. */
  isOutOfTime(): boolean
}

/** One transition adds fewer entries to the history than this, plus one for each further step of a hand-out. */
const ENTRIES_AT_ONCE = 8

/** The result of the loop. */
export interface Reconciled {
  readonly state: WorkflowState
  readonly command: Exclude<Command['kind'], 'observe'>
  /** True if there was no time to go on. The command is then `wait`, and the next turn continues. */
  readonly unfinished: boolean
}

/**
 * Runs until there is a prompt to give out, nothing to do, or an end. `onDisk`: the state on disk, if it is not `start`.
 * When it returns, the state is on disk. A state is
 * written before the effects of the next transition, so that a crash at any point leaves a state that leads to the same
 * result. A state keeps only its last transitions, so they are recorded before that many have been added. (A state may be
 * large, and a run may have many finished phases to catch up with: writing each of these states would take too long.)
 */
export function reconcile(start: WorkflowState, ports: WorkflowPorts, onDisk = start): Reconciled {
  let state = start
  let written = onDisk
  let recorded = onDisk.sequence
  const flush = (): void => {
    if (state === written) return
    ports.write(state)
    written = state
    recorded = state.sequence
  }
  for (;;) {
    const { state: next, command, effects } = advance(state, ports.observe(state))
    // Written first: after a crash, only a file that this run was about to archive counts as an archived result.
    const archiving = effects.flatMap((effect) => (effect.kind === 'archive-step' ? effect.name : []))
    if (archiving.length > 0) state = { ...state, archiving }
    if (effects.length > 0) flush()
    for (const effect of effects) ports.apply(effect)
    state = next.archiving.length > 0 && next !== state ? { ...next, archiving: [] } : next
    if (state.sequence - recorded > HISTORY_KEPT - ENTRIES_AT_ONCE - currentPhase(state).parallel + 1) {
      ports.record(state)
      recorded = state.sequence
    }
    const unfinished = command.kind === 'observe' && ports.isOutOfTime()
    if (command.kind === 'observe' && !unfinished) continue
    flush()
    return { state, command: command.kind === 'observe' ? 'wait' : command.kind, unfinished }
  }
}
