import type { CommandReader } from '../kernel/command-line.ts'
import type { Environment } from '../kernel/environment.ts'
import type { Payload } from './host.ts'

/** The part of an occasion that the rules decide by. */
export interface Moment {
  readonly payload: Payload
  /** The time at which it is judged, in ms since the epoch. */
  readonly nowMs: number
  /** The start of the hook in ms since the epoch, which is later than the agent's stop or the end of its command. */
  readonly startMs: number
  /** The beginning of the payload's session in ms since the epoch; undefined if unknown. */
  readonly sessionBornMs: number | undefined
}

/** An event of a host: who stops, runs a command or starts a session, when and where. Made once, where the event is read. */
export interface Occasion extends Moment {
  readonly environment: Environment
  /** Every distinct root, in the resolver's order. */
  readonly roots: readonly string[]
  /** How the agent's commands find the root and the CLI. */
  readonly reader: CommandReader
  /** The age (ms) of this process at which no further marker or run is judged; undefined for no limit. */
  readonly deadline: number | undefined
}

/** Finds what costs system calls and most events do not need. */
interface Finders {
  readonly startMs: () => number
  readonly sessionBornMs: () => number | undefined
}

/** An occasion that calls a finder only when its value is read. So never spread an occasion. */
export function occasionOf(known: Omit<Occasion, keyof Finders>, find: Finders): Occasion {
  let startMs: number | undefined
  let born: { readonly ms: number | undefined } | undefined
  return {
    ...known,
    get startMs() {
      startMs ??= find.startMs()
      return startMs
    },
    get sessionBornMs() {
      born ??= { ms: find.sessionBornMs() }
      return born.ms
    },
  }
}
