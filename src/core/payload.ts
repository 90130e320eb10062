import { PostflightError } from './errors.ts'
import { isJsonObject } from './json-object.ts'
import { MAIN_AGENT } from './marker.ts'

/**
 * The payload: what a host writes to the hook's stdin. What it leaves out is unknown, not wrong (DESIGN section 5).
 */

/** The events that the hook answers; any other is answered with `{}`. */
export const EVENTS = ['SubagentStop', 'Stop', 'PostToolUse', 'SessionStart'] as const

/** A longer id is no id of any host, and would be carried into files and sentences. */
export const MAX_ID_LENGTH = 256

/** A payload, understood. Absent means: not known. */
export interface Payload {
  /** One of EVENTS, or the host's own name of an event that is not ours. */
  readonly event: string
  /** The host's id of the conversation. */
  readonly session?: string
  /** `main`, or the sub-agent's id. */
  readonly agent?: string
  /** Empty for an agent of Claude Code's own, such as its compaction (2.1.329). */
  readonly agentType?: string
  /** Only Copilot sends it, on the first of its two stops per sub-agent. */
  readonly parentAgent?: string
  readonly cwd?: string
  /** The file in which the host keeps the conversation. */
  readonly transcript?: string
  /** Codex's id of the turn. */
  readonly turn?: string
  /** How many sub-agents the host says are still running in the background. */
  readonly runningSubagents: number
  /** The command of a shell tool. */
  readonly command?: string
  /** Everything that the shell tool printed. */
  readonly output?: string
}

/** Of an empty stdin nothing is known but that some sub-agent stops, as the seed's hook assumes, which never reads it. */
export const EMPTY_PAYLOAD: Payload = { event: 'SubagentStop', runningSubagents: 0 }

/**
 * Reads the hook's stdin.
 * @throws {PostflightError} `payload-not-json`, `payload-not-object`.
 */
export function parsePayload(text: string): Payload {
  const body = text.replace(/^\ufeff/, '').trim()
  if (body === '') return EMPTY_PAYLOAD
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch (error) {
    throw new PostflightError('payload-not-json', { detail: (error as Error).message })
  }
  if (!isJsonObject(value)) throw new PostflightError('payload-not-object')
  return fromFields(value)
}

type Fields = Readonly<Record<string, unknown>>

function fromFields(fields: Fields): Payload {
  const event = text(fields, 'hook_event_name') ?? 'SubagentStop'
  const session = identifier(fields, 'session_id')
  const agent = agentOf(event, session, identifier(fields, 'agent_id'))
  const agentType = own(fields, 'agent_type') === '' ? '' : identifier(fields, 'agent_type')
  const parentAgent = identifier(fields, 'parent_agent_id')
  const cwd = text(fields, 'cwd')
  const transcript = text(fields, 'transcript_path')
  const turn = identifier(fields, 'turn_id')
  const toolInput = own(fields, 'tool_input')
  const command = isJsonObject(toolInput) ? text(toolInput, 'command') : undefined
  return {
    event,
    runningSubagents: countRunningSubagents(own(fields, 'background_tasks')),
    ...(session !== undefined && { session }),
    ...(agent !== undefined && { agent }),
    ...(agentType !== undefined && { agentType }),
    ...(parentAgent !== undefined && { parentAgent }),
    ...(cwd !== undefined && { cwd }),
    ...(transcript !== undefined && { transcript }),
    ...(turn !== undefined && { turn }),
    ...(command !== undefined && { command, output: outputText(own(fields, 'tool_response')) }),
  }
}

/**
 * `Stop` is the main conversation's, and so is a tool call without an agent id (Claude Code 2.1.329 gives one only
 * inside sub-agents). A `SubagentStop` without an id comes from an older client: some sub-agent, which one is unknown.
 */
function agentOf(event: string, session: string | undefined, agentId: string | undefined): string | undefined {
  // Codex names the root conversation by the session's own id.
  if (agentId !== undefined && !(event !== 'SubagentStop' && agentId === session)) return agentId
  return event === 'SubagentStop' ? undefined : MAIN_AGENT
}

/**
 * Running sub-agents in `background_tasks`. Claude Code 2.1.329 lists `{ id, type: "subagent" | "shell" | …, status }`,
 * Qwen Code 0.24.4 the like. A running shell never wakes the agent with work to do, so it does not count.
 */
function countRunningSubagents(tasks: unknown): number {
  if (!Array.isArray(tasks)) return 0
  return tasks.filter((task) => {
    if (!isJsonObject(task)) return false
    const status = text(task, 'status')
    const kind = text(task, 'type')
    return (status === 'running' || status === 'pending') && (kind === undefined || /agent/i.test(kind))
  }).length
}

/** Everything textual in a tool's response, in any host's shape: `{ stdout, stderr }`, a string, a list of parts. */
function outputText(response: unknown): string {
  if (typeof response === 'string') return response
  const parts = Array.isArray(response) ? response : isJsonObject(response) ? Object.values(response) : []
  return parts
    .map((part) => (typeof part === 'string' ? part : isJsonObject(part) ? (text(part, 'text') ?? '') : ''))
    .join('\n')
}

function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

function text(fields: Fields, name: string): string | undefined {
  const value = own(fields, name)
  return typeof value === 'string' && value !== '' ? value : undefined
}

function identifier(fields: Fields, name: string): string | undefined {
  const value = text(fields, name)
  return value !== undefined && value.length <= MAX_ID_LENGTH ? value : undefined
}
