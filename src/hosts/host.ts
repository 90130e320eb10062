import { type Environment, variable } from '../kernel/environment.ts'

/** The session and the agent, as a host names them in the environment of its shell tool. */
export interface ShellIdentity {
  readonly session: string
  /** Absent if the host does not name it; `PostToolUse` then names the owner. */
  readonly agent?: string
  /** True if `PostToolUse` says how long a command ran. */
  readonly tellsDuration?: true
  /** True if the shell's own stdout is a pipe. */
  readonly isPiped?: true
}

/** Why a stop is not judged: the host ignores the answer, or one of the host's own agents stops. */
export interface Exemption {
  readonly host: string
  readonly why: 'answer-ignored' | 'own-agent'
}

/** The fields of a payload, as the host sent them. */
export type PayloadFields = Readonly<Record<string, unknown>>

/** The differences of one host. Everything else is the same for all hosts. */
export interface HostDifference {
  /** The fields with the names and units of the other hosts. It gets the payloads of every host, and returns theirs as they are. */
  readonly readFields?: (fields: PayloadFields) => PayloadFields
  /**
   * Tools whose call ends the agent's turn, although the host asks no stop hook then, or throws its block away. The call itself
   * is judged as a stop, before it runs.
   */
  readonly endingTools?: readonly string[]
  /** The session and the agent, from the shell tool's environment. */
  readonly shellIdentity?: (environment: Environment) => ShellIdentity | undefined
  /** Why this stop is not judged; undefined if it is. */
  readonly exempts?: (payload: Payload, environment: Environment) => Exemption | undefined
  /** True if the session that starts is a sub-agent, which has nothing to adopt or clear. */
  readonly startsSubagent?: (payload: Payload, environment: Environment) => boolean
  /**
   * True for a payload or an environment that only this host gives. Several hosts imitate Claude Code's: where none recognizes
   * a payload, its transcript and an agent without a type count as Claude Code's.
   */
  readonly recognizes?: (payload: Payload, environment: Environment) => boolean
  /** True if an allow may have a `systemMessage`. */
  readonly showsNotice?: (payload: Payload, environment: Environment) => boolean
  /** True if the host reads `additionalContext` only at the top of an answer. */
  readonly takesContextAtTop?: (payload: Payload, environment: Environment) => boolean
  /** True if the host gives the model the `additionalContext` of a block, once. */
  readonly takesContextOfBlock?: (payload: Payload, environment: Environment) => boolean
  /** True if the host writes the `terminalSequence` of an answer to the user's terminal. */
  readonly writesSequences?: (payload: Payload, environment: Environment) => boolean
  /** True if a hook can add a message for a sub-agent's caller when the sub-agent returns. */
  readonly handsOverReports?: (payload: Payload, environment: Environment) => boolean
}

/** Recognizes a host by a variable that only its own hooks have. */
export function hasVariable(name: string): (payload: Payload, environment: Environment) => boolean {
  return (_payload, environment) => variable(environment, name) !== undefined
}

/** The agent id of a host's main conversation. */
export const MAIN_AGENT = 'main'

/** The content of a payload. An absent field is unknown. */
export interface Payload {
  /** `SubagentStop`, `Stop`, `PostToolUse`, `SessionStart`, or the host's name of an event that the hook answers with `{}`. */
  readonly event: string
  /** The tool by whose call the agent ends its turn: the event is a stop then, and a block refuses the call. */
  readonly endingTool?: string
  /** The host's id of the conversation. */
  readonly session?: string
  /** `main`, or the sub-agent's id. */
  readonly agent?: string
  /** Empty for an agent of Claude Code's own, such as its compaction (2.1.329). */
  readonly agentType?: string
  /** Only Copilot sends it, with each event of a sub-agent. */
  readonly parentAgent?: string
  /** In a sub-agent of droid: the session that started it. */
  readonly caller?: string
  /** Kimi Code's name for itself. */
  readonly client?: string
  readonly cwd?: string
  /** The path of the file in which the host keeps the conversation. */
  readonly transcript?: string
  /** Codex's id of the turn. */
  readonly turn?: string
  /**
   * The id of the prompt that is answered: it stays the same through a chain of blocks, and changes when the person
   * writes or background work wakes the agent (Claude Code 2.1.329). On Codex the id of the turn.
   */
  readonly prompt?: string
  /**
   * The number of things that will wake the agent by themselves: running tasks in the background that end with a result, and
   * wake-ups that are scheduled once. Above 0, the agent is waiting, and its stop comes again.
   */
  readonly wakeUps: number
  /** The shells that run in the background: their descriptions or commands. They may never end. */
  readonly shells: readonly string[]
  /** Their ids, if there are any. */
  readonly shellIds?: readonly string[]
  /** True if this stop follows a block in the same chain. It decides nothing about promises. */
  readonly followsBlock?: boolean
  /** The command of a shell tool. */
  readonly command?: string
  /** The whole output of that command. */
  readonly output?: string
  /** How long that command ran, in ms. */
  readonly durationMs?: number
  /** The last message of an agent that stops (Claude Code 2.1.329). */
  readonly lastMessage?: string
  /** True for a `SessionStart` after a compaction: the agent works on (`source`, as Claude Code documents it). */
  readonly isCompacted?: boolean
  /** True in plan mode, where an agent changes nothing (`permission_mode`, Claude Code 2.1.329). */
  readonly isPlanning?: boolean
  /** The sub-agent whose caller has just got its last message as a tool's result (Claude Code 2.1.329). */
  readonly returned?: ReturnedAgent
}

/** A sub-agent that returned to its caller. */
export interface ReturnedAgent {
  readonly agent: string
  readonly agentType?: string
  /** The message that its caller got. */
  readonly message: string
}
