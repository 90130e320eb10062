import { PostflightError } from '../kernel/errors.ts'
import { isJsonObject, known } from '../kernel/json-object.ts'
import { ENDING_TOOLS, readFields } from './all-hosts.ts'
import { MAIN_AGENT, type Payload, type ReturnedAgent } from './host.ts'

/** The payload that a host writes to the hook's stdin. A field that it omits is unknown, not wrong. */

/** The maximum length of an id. No host has longer ones, and ids get into files and sentences. */
export const MAX_ID_LENGTH = 256

/** A day, in ms. */
const DAY_MS = 86_400_000

/** The payload of an empty stdin: a sub-agent stops. Hooks that never read their stdin assume the same. */
export const EMPTY_PAYLOAD: Payload = { event: 'SubagentStop', wakeUps: 0, shells: [] }

/**
 * Reads the hook's stdin. Wake-ups are judged by the date, in the time zone of the process.
 * @throws {PostflightError} `payload-not-json`, `payload-not-object`.
 */
export function parsePayload(text: string, nowMs: number): Payload {
  const body = text.replace(/^\ufeff/, '').trim()
  if (body === '') return EMPTY_PAYLOAD
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch (error) {
    throw new PostflightError('payload-not-json', { detail: (error as Error).message })
  }
  if (!isJsonObject(value)) throw new PostflightError('payload-not-object')
  return fromFields(readFields(value), nowMs)
}

type Fields = Readonly<Record<string, unknown>>

function fromFields(fields: Fields, nowMs: number): Payload {
  const named = text(fields, 'hook_event_name') ?? 'SubagentStop'
  const tool = text(fields, 'tool_name')
  const endingTool = named === 'PreToolUse' && tool !== undefined && ENDING_TOOLS.includes(tool) ? tool : undefined
  const stop = identifier(fields, 'agent_id') === undefined ? 'Stop' : 'SubagentStop'
  const event = endingTool === undefined ? named : stop
  const session = identifier(fields, 'session_id')
  const agent = agentOf(event, session, identifier(fields, 'agent_id'))
  const turn = identifier(fields, 'turn_id')
  const prompt = identifier(fields, 'prompt_id') ?? turn
  const durationMs = own(fields, 'duration_ms')
  const tasks = runningTasks(own(fields, 'background_tasks'))
  const shellIds = tasks.flatMap((task) => (text(task, 'type') === 'shell' ? (identifier(task, 'id') ?? []) : []))
  const followsBlock = own(fields, 'stop_hook_active')
  const toolInput = own(fields, 'tool_input')
  const command = isJsonObject(toolInput) ? text(toolInput, 'command') : undefined
  return known({
    event,
    wakeUps: tasks.filter(wakesAgent).length + countScheduledOnce(own(fields, 'session_crons'), nowMs),
    shells: tasks.flatMap(shellOf),
    shellIds: shellIds.length > 0 ? shellIds : undefined,
    endingTool,
    followsBlock: typeof followsBlock === 'boolean' ? followsBlock : undefined,
    session,
    agent,
    agentType: own(fields, 'agent_type') === '' ? '' : identifier(fields, 'agent_type'),
    parentAgent: identifier(fields, 'parent_agent_id'),
    caller: identifier(fields, 'calling_session_id'),
    client: text(fields, 'client_type'),
    cwd: text(fields, 'cwd'),
    transcript: text(fields, 'transcript_path'),
    turn,
    prompt,
    command,
    output: command === undefined ? undefined : outputText(own(fields, 'tool_response')),
    durationMs: isDuration(durationMs) ? durationMs : undefined,
    lastMessage: text(fields, 'last_assistant_message'),
    isCompacted: (event === 'SessionStart' && own(fields, 'source') === 'compact') || undefined,
    isPlanning: text(fields, 'permission_mode') === 'plan' || undefined,
    returned: event === 'PostToolUse' ? returnedAgent(own(fields, 'tool_response')) : undefined,
  })
}

/** The sub-agent in the response of the tool that started it; one that was started in the background has no message yet. */
function returnedAgent(response: unknown): ReturnedAgent | undefined {
  if (!isJsonObject(response)) return undefined
  const agent = identifier(response, 'agentId')
  const content = own(response, 'content')
  if (agent === undefined || (typeof content !== 'string' && !Array.isArray(content))) return undefined
  const agentType = identifier(response, 'agentType')
  // A report by SubagentHandback comes beside the content (Claude Code 2.1.330).
  const report = own(response, 'handbackReport')
  const message = outputText(report === undefined ? content : [outputText(content), report])
  return known({ agent, message, agentType })
}

/**
 * The agent of an event. Without an agent id, a `SubagentStop` comes from an unknown sub-agent (older clients), and any
 * other event from the main conversation (Claude Code 2.1.329 gives an id only inside sub-agents).
 */
function agentOf(event: string, session: string | undefined, agentId: string | undefined): string | undefined {
  // In Codex, the agent id of the root conversation is the session's id.
  if (agentId !== undefined && !(event !== 'SubagentStop' && agentId === session)) return agentId
  return event === 'SubagentStop' ? undefined : MAIN_AGENT
}

/** The running tasks in `background_tasks`: `{ id, type, status, description, command }` (Claude Code 2.1.329). */
function runningTasks(tasks: unknown): Fields[] {
  if (!Array.isArray(tasks)) return []
  return tasks.filter(isJsonObject).filter((task) => {
    const status = text(task, 'status')
    return status === 'running' || status === 'pending'
  })
}

/**
 * True for a task whose end wakes the agent with a result: a sub-agent (Qwen Code 0.24.4 has its own name for it, older
 * clients give no type), a dynamic workflow, an MCP task, a cloud session. The end of a shell wakes the agent too
 * (Claude Code 2.1.329), but a shell, a monitor or a teammate may never end.
 */
function wakesAgent(task: Fields): boolean {
  const type = text(task, 'type')
  return type === undefined || /agent|^workflow$|^mcp[ _-]?task$|^cloud[ _-]?session$/i.test(type)
}

/**
 * The number of wake-ups in `session_crons` that come once, today or tomorrow: `{ id, schedule, recurring, prompt }` (Claude
 * Code 2.1.330, for ScheduleWakeup and for CronCreate). An agent that waits for a recurring one, or for one in some months,
 * would never be asked.
 */
function countScheduledOnce(crons: unknown, nowMs: number): number {
  if (!Array.isArray(crons)) return 0
  return crons.filter((cron) => isJsonObject(cron) && own(cron, 'recurring') === false && comesSoon(cron, nowMs)).length
}

/** Whether the `schedule` (minute, hour, day, month, day of the week) allows today or tomorrow, as one without a date does. */
function comesSoon(cron: Fields, nowMs: number): boolean {
  const [, , day = '*', month = '*'] = (text(cron, 'schedule') ?? '').split(' ')
  return [nowMs, nowMs + DAY_MS].some((ms) => {
    // biome-ignore lint/style/noRestrictedGlobals: a conversion of what was passed in, not a clock
    const date = new Date(ms)
    return isAt(day, date.getDate()) && isAt(month, date.getMonth() + 1)
  })
}

function isAt(field: string, value: number): boolean {
  return field === '*' || Number(field) === value
}

function shellOf(task: Fields): string[] {
  if (text(task, 'type') !== 'shell') return []
  return [text(task, 'description') ?? text(task, 'command') ?? text(task, 'id') ?? '']
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && value >= 0
}

/** The text of a tool's response in any host's shape: `{ stdout, stderr }`, a string, or a list of parts. */
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
