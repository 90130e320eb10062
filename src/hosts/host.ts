import type { CommandReader } from '../kernel/command-line.ts'
import { type Environment, variable } from '../kernel/values.ts'

export interface ShellIdentity {
  readonly session: string
  readonly agent?: string
  readonly tellsDuration?: true
  /** Whether the shell's own stdout is a pipe. */
  readonly isPiped?: true
  /** If a sub-agent is the main agent of a session of its own. */
  readonly isSubagent?: true
}

export interface Exemption {
  readonly host: string
  readonly why: 'answer-ignored' | 'own-agent'
}

export type PayloadFields = Readonly<Record<string, unknown>>

export type PayloadTest = (payload: Payload, environment: Environment) => boolean

type Question =
  /** Several hosts imitate Claude Code: unrecognized payloads count as Claude Code's. */
  | 'recognizes'
  /** It runs the hooks of one event one after another, and tells each when the event happened. */
  | 'repeatsTime'
  | 'startsSubagent'
  | 'showsNotice'
  | 'takesContextAtTop'
  | 'takesContextOfBlock'
  | 'writesSequences'
  | 'handsOverReports'

export type HostAnswers = { readonly [Name in Question]?: PayloadTest }

export interface HostDifference extends HostAnswers {
  /** The value of `--host`; only for hosts whose shell names the session. */
  readonly name?: string
  readonly readFields?: (fields: PayloadFields) => PayloadFields
  /** The host asks no stop hook for these, or ignores its block. */
  readonly endingTools?: readonly string[]
  readonly shellIdentity?: (environment: Environment) => ShellIdentity | undefined
  readonly exempts?: (payload: Payload, environment: Environment) => Exemption | undefined
}

export function hasVariable(name: string): PayloadTest {
  return (_payload, environment) => variable(environment, name) !== undefined
}

export const MAIN_AGENT = 'main'

/** An absent field is unknown. */
export interface Payload {
  readonly event: string
  readonly endingTool?: string
  readonly session?: string
  /** `main`, or the sub-agent's id. */
  readonly agent?: string
  /** Empty for Claude Code's own agents, such as its compaction (2.1.329). */
  readonly agentType?: string
  /** Only Copilot sends it, with each event of a sub-agent. */
  readonly parentAgent?: string
  /** Only droid sends it. */
  readonly caller?: string
  /** Kimi Code's name for itself. */
  readonly client?: string
  readonly cwd?: string
  readonly transcript?: string
  /** Codex's id of the turn. */
  readonly turn?: string
  /**
   * Constant through a chain of blocks; changes when the user writes or background work wakes the agent (Claude Code
   * 2.1.329). On Codex the turn's id.
   */
  readonly prompt?: string
  /** If above 0, the agent will stop again. */
  readonly wakeUps: number
  readonly shells: readonly string[]
  readonly shellIds?: readonly string[]
  /** Markers ignore it. */
  readonly followsBlock?: boolean
  readonly command?: string
  readonly output?: string
  readonly durationMs?: number
  readonly sentMs?: number
  /** Claude Code 2.1.329. */
  readonly lastMessage?: string
  /** From `source`, as Claude Code documents it. */
  readonly isCompacted?: boolean
  /** Claude Code 2.1.329. */
  readonly isPlanning?: boolean
  /** Its caller just got its last message (Claude Code 2.1.329). */
  readonly returned?: ReturnedAgent
}

/** Not if work will wake the agent, nor in plan mode, in which it cannot change files. */
export function mayGetWork({ event, wakeUps, isPlanning }: Payload): boolean {
  return event === 'Stop' && wakeUps === 0 && isPlanning !== true
}

export interface ReturnedAgent {
  readonly agent: string
  readonly agentType?: string
  readonly message: string
}

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
  /** Waits for the locks that the action takes: a process of its own sleeps, a server goes on with its other work. */
  readonly patiently: <T>(action: () => T) => T | Promise<T>
}

/** Of a process of its own. Reads values lazily, so never spread an occasion. */
export function occasionOf(
  known: Omit<Occasion, 'startMs' | 'sessionBornMs' | 'patiently'>,
  find: { readonly startMs: () => number; readonly sessionBornMs: () => number | undefined },
): Occasion {
  let startMs: number | undefined
  let born: { readonly ms: number | undefined } | undefined
  return {
    ...known,
    patiently: (action) => action(),
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
