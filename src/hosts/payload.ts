import { PostflightError } from '../kernel/errors.ts'
import { isJsonObject, known } from '../kernel/values.ts'
import { ENDING_TOOLS, readFields } from './all-hosts.ts'
import { MAIN_AGENT, type Payload, type ReturnedAgent } from './host.ts'

/** No host has longer ids, and we write ids to files. */
export const MAX_ID_LENGTH = 256

const DAY_MS = 86_400_000

/** Between an event and its last hook; an older time is not that of this event, as in a payload that was recorded. */
const LONGEST_DELAY_MS = 600_000

/** Hooks that never read their stdin assume the same. */
export const EMPTY_PAYLOAD: Payload = { event: 'SubagentStop', wakeUps: 0, shells: [] }

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
  // biome-ignore lint/style/noRestrictedGlobals: a conversion of what was passed in, not a clock
  const sentMs = Date.parse(text(fields, 'timestamp') ?? '')
  const tasks = runningTasks(own(fields, 'background_tasks'))
  const shells = tasks.filter((task) => text(task, 'type') === 'shell')
  const shellIds = shells.flatMap((task) => identifier(task, 'id') ?? [])
  const followsBlock = own(fields, 'stop_hook_active')
  const toolInput = own(fields, 'tool_input')
  const command = isJsonObject(toolInput) ? text(toolInput, 'command') : undefined
  return known({
    event,
    wakeUps: tasks.filter(wakesAgent).length + countScheduledOnce(own(fields, 'session_crons'), nowMs),
    shells: shells.map((task) => text(task, 'description') ?? text(task, 'command') ?? text(task, 'id') ?? ''),
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
    durationMs: typeof durationMs === 'number' && durationMs >= 0 ? durationMs : undefined,
    sentMs: sentMs <= nowMs && nowMs - sentMs < LONGEST_DELAY_MS ? sentMs : undefined,
    lastMessage: text(fields, 'last_assistant_message'),
    isCompacted: (event === 'SessionStart' && own(fields, 'source') === 'compact') || undefined,
    isPlanning: text(fields, 'permission_mode') === 'plan' || undefined,
    returned: event === 'PostToolUse' ? returnedAgent(own(fields, 'tool_response')) : undefined,
  })
}

function returnedAgent(response: unknown): ReturnedAgent | undefined {
  if (!isJsonObject(response)) return undefined
  const agent = identifier(response, 'agentId')
  // A skill with `context: fork` has a `result` (Claude Code 2.1.332).
  const content = own(response, 'content') ?? own(response, 'result')
  if (agent === undefined || (typeof content !== 'string' && !Array.isArray(content))) return undefined
  const agentType = identifier(response, 'agentType')
  // SubagentHandback puts its report beside the content (Claude Code 2.1.330).
  const report = own(response, 'handbackReport')
  const message = outputText(report === undefined ? content : [outputText(content), report])
  return known({ agent, message, agentType })
}

/** Older clients send no id; others only for sub-agents (Claude Code 2.1.329). */
function agentOf(event: string, session: string | undefined, agentId: string | undefined): string | undefined {
  // In Codex, the root's agent id is the session's.
  if (agentId !== undefined && !(event !== 'SubagentStop' && agentId === session)) return agentId
  return event === 'SubagentStop' ? undefined : MAIN_AGENT
}

/** `{ id, type, status, description, command }` (Claude Code 2.1.329). */
function runningTasks(tasks: unknown): Fields[] {
  if (!Array.isArray(tasks)) return []
  return tasks.filter(isJsonObject).filter((task) => {
    const status = text(task, 'status')
    return status === 'running' || status === 'pending'
  })
}

/**
 * Qwen Code 0.24.4 names sub-agents differently; older clients send no type. A shell's end wakes the agent too (Claude
 * Code 2.1.329), but it may never end.
 */
function wakesAgent(task: Fields): boolean {
  const type = own(task, 'type') ?? ''
  return typeof type === 'string' && /^$|agent|^workflow$|^mcp[ _-]?task$|^cloud[ _-]?session$/i.test(type)
}

/**
 * From ScheduleWakeup and CronCreate (Claude Code 2.1.330). An agent that waits for a recurring or distant one would
 * never be asked.
 */
function countScheduledOnce(crons: unknown, nowMs: number): number {
  if (!Array.isArray(crons)) return 0
  return crons.filter((cron) => isJsonObject(cron) && own(cron, 'recurring') === false && comesSoon(cron, nowMs)).length
}

/** Minute, hour, day, month, weekday. */
function comesSoon(cron: Fields, nowMs: number): boolean {
  const [, , day = '*', month = '*', weekday = '*'] = (text(cron, 'schedule') ?? '').split(' ')
  return [nowMs, nowMs + DAY_MS].some((ms) => {
    // biome-ignore lint/style/noRestrictedGlobals: a conversion of what was passed in, not a clock
    const date = new Date(ms)
    const isWeekday = isAt(weekday === '7' ? '0' : weekday, date.getDay())
    return isAt(day, date.getDate()) && isAt(month, date.getMonth() + 1) && isWeekday
  })
}

function isAt(field: string, value: number): boolean {
  return field === '*' || Number(field) === value
}

function outputText(response: unknown): string {
  if (typeof response === 'string') return response
  return (Array.isArray(response) ? response : isJsonObject(response) ? Object.values(response) : [])
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
