import type { CommandReader } from '../kernel/command-line.ts'
import type { Environment } from '../kernel/values.ts'
import type { Payload } from './host.ts'

export interface Moment {
  readonly payload: Payload
  readonly nowMs: number
  /** Later than the agent's stop. */
  readonly startMs: number
  readonly sessionBornMs: number | undefined
}

export interface Occasion extends Moment {
  readonly environment: Environment
  readonly roots: readonly string[]
  readonly reader: CommandReader
  /** Age of this process (ms) at which judging ends. */
  readonly deadline: number | undefined
}

interface Finders {
  readonly startMs: () => number
  readonly sessionBornMs: () => number | undefined
}

/** Reads values lazily, so never spread an occasion. */
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
