import type { CommandReader } from '../kernel/command-line.ts'
import { type Environment, isJsonObject, known } from '../kernel/values.ts'

export const MAIN_AGENT = 'main'

/** No host has longer ids, and we write ids to files. */
export const MAX_ID_LENGTH = 256

const DAY_MS = 86_400_000

/** Between an event and its last hook. A recorded payload has an older time. */
const LONGEST_DELAY_MS = 600_000

/** Hooks that never read their stdin assume the same. */
export const EMPTY_PAYLOAD: Payload = { event: 'SubagentStop', wakeUps: 0, shells: [] }

export type PayloadFields = Readonly<Record<string, unknown>>

/** An absent field is unknown. */
export type Payload = Readonly<ReturnType<typeof readPayload>>

export function readPayload(fields: PayloadFields, nowMs: number, endingTools: readonly string[]) {
  const named = text(fields, 'hook_event_name') ?? 'SubagentStop'
  const tool = text(fields, 'tool_name')
  const endingTool = named === 'PreToolUse' && tool !== undefined && endingTools.includes(tool) ? tool : undefined
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
  const shells = tasks.filter((task) => MAY_NEVER_END.includes(text(task, 'type') ?? ''))
  const shellIds = shells.flatMap((task) => identifier(task, 'id') ?? [])
  const followsBlock = own(fields, 'stop_hook_active')
  const toolInput = own(fields, 'tool_input')
  const command = isJsonObject(toolInput) ? text(toolInput, 'command') : undefined
  return known({
    event,
    /** If above 0, the agent will stop again. */
    wakeUps: tasks.filter(wakesAgent).length + countScheduledOnce(own(fields, 'session_crons'), nowMs),
    /** Also monitors and teammates. */
    shells: shells.map((task) => text(task, 'description') ?? text(task, 'command') ?? text(task, 'id') ?? ''),
    shellIds: shellIds.length > 0 ? shellIds : undefined,
    endingTool,
    /** Markers ignore it. */
    followsBlock: typeof followsBlock === 'boolean' ? followsBlock : undefined,
    session,
    /** `main`, or the sub-agent's id. */
    agent,
    /** Empty for Claude Code's own agents, such as its compaction (2.1.329). */
    agentType: own(fields, 'agent_type') === '' ? '' : identifier(fields, 'agent_type'),
    /** Only Copilot sends it, with each event of a sub-agent. */
    parentAgent: identifier(fields, 'parent_agent_id'),
    /** Only droid sends these two. */
    lastMessageId: identifier(fields, 'message_id'),
    caller: identifier(fields, 'calling_session_id'),
    /** Kimi Code's name for itself. */
    client: text(fields, 'client_type'),
    cwd: text(fields, 'cwd'),
    transcript: text(fields, 'transcript_path'),
    turn,
    /**
     * Constant through a chain of blocks; changes when the user writes or background work wakes the agent (Claude Code
     * 2.1.329). On Codex the turn's id.
     */
    prompt,
    command,
    output: command === undefined ? undefined : outputText(own(fields, 'tool_response')),
    durationMs: typeof durationMs === 'number' && durationMs >= 0 ? durationMs : undefined,
    sentMs: sentMs <= nowMs && nowMs - sentMs < LONGEST_DELAY_MS ? sentMs : undefined,
    /** Claude Code 2.1.329. */
    lastMessage: text(fields, 'last_assistant_message'),
    /** From `source`, as Claude Code documents it. */
    isCompacted: (event === 'SessionStart' && own(fields, 'source') === 'compact') || undefined,
    /** `plan`: Claude Code 2.1.329; `spec`: droid 0.225.2. */
    isPlanning: ['plan', 'spec'].includes(text(fields, 'permission_mode') ?? '') || undefined,
    /** Its caller just got its last message (Claude Code 2.1.329). */
    returned: event === 'PostToolUse' ? returnedAgent(own(fields, 'tool_response')) : undefined,
  })
}

function returnedAgent(response: unknown) {
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
function runningTasks(tasks: unknown): PayloadFields[] {
  if (!Array.isArray(tasks)) return []
  return tasks.filter(isJsonObject).filter((task) => {
    const status = text(task, 'status')
    return status === 'running' || status === 'pending'
  })
}

/** The end of a shell, an event of a monitor or a message of a teammate wakes the agent too (Claude Code 2.1.332). */
const MAY_NEVER_END: readonly string[] = ['shell', 'monitor', 'teammate']

/** Qwen Code 0.24.4 names sub-agents differently; older clients send no type. */
function wakesAgent(task: PayloadFields): boolean {
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
function comesSoon(cron: PayloadFields, nowMs: number): boolean {
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

function own(fields: PayloadFields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

function text(fields: PayloadFields, name: string): string | undefined {
  const value = own(fields, name)
  return typeof value === 'string' && value !== '' ? value : undefined
}

function identifier(fields: PayloadFields, name: string): string | undefined {
  const value = text(fields, name)
  return value !== undefined && value.length <= MAX_ID_LENGTH ? value : undefined
}

/** In plan mode the agent cannot change files. */
export function mayGetWork({ event, wakeUps, isPlanning }: Payload): boolean {
  return event === 'Stop' && wakeUps === 0 && isPlanning !== true
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
  /** Waits for the action's locks: a process of its own sleeps, a server continues its other work. */
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
