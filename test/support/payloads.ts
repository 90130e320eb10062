/** Payloads as Claude Code 2.1.329 writes them to a hook's stdin; `more` adds or replaces fields. */

export type Fields = Readonly<Record<string, unknown>>

/** The session of all payloads, unless a test names another one. */
export const SESSION = '5f3c8a52-1111-4c4c-9d9d-0123456789ab'
export const OTHER_SESSION = '99999999-2222-4c4c-9d9d-0123456789ab'

const COMMON = {
  session_id: SESSION,
  transcript_path: '/home/user/.claude/projects/x/5f3c8a52.jsonl',
  permission_mode: 'default',
} as const
const IN_PROMPT = { ...COMMON, prompt_id: 'prompt-1', effort: { level: 'medium' } } as const
const STOPPING = { ...IN_PROMPT, stop_hook_active: false, background_tasks: [], session_crons: [] } as const

export function subagentStop(more: Fields = {}): Fields {
  return {
    ...STOPPING,
    agent_id: 'agent-a',
    agent_type: 'general-purpose',
    hook_event_name: 'SubagentStop',
    agent_transcript_path: '/home/user/.claude/projects/x/agent-a.jsonl',
    last_assistant_message: 'My full report.',
    ...more,
  }
}

export function stop(more: Fields = {}): Fields {
  return { ...STOPPING, hook_event_name: 'Stop', last_assistant_message: 'All done.', ...more }
}

/** The payload before an agent ends its turn by a structured answer (2.1.330); without `agent_id` in the main conversation. */
export function structuredAnswer(more: Fields = {}): Fields {
  return {
    ...IN_PROMPT,
    hook_event_name: 'PreToolUse',
    tool_name: 'StructuredOutput',
    tool_input: { answer: 'done' },
    tool_use_id: 'toolu_3',
    ...more,
  }
}

/** The payload after a shell command; without `agent_id` the main conversation ran it. */
export function shellRan(command: string, stdout: string, more: Fields = {}): Fields {
  return {
    ...COMMON,
    prompt_id: 'prompt-1',
    hook_event_name: 'PostToolUse',
    tool_name: 'Bash',
    tool_input: { command, description: 'run' },
    tool_response: { stdout, stderr: '', interrupted: false, isImage: false },
    tool_use_id: 'toolu_1',
    ...more,
  }
}

/** The payload when a sub-agent has returned `message` to its caller. */
export function agentReturned(message: string, more: Fields = {}): Fields {
  return {
    ...COMMON,
    hook_event_name: 'PostToolUse',
    tool_name: 'Agent',
    tool_input: { description: 'work', subagent_type: 'general-purpose', prompt: 'go' },
    tool_response: {
      status: 'completed',
      agentId: 'agent-a',
      agentType: 'general-purpose',
      content: [{ type: 'text', text: message }],
    },
    tool_use_id: 'toolu_2',
    ...more,
  }
}

export function sessionStart(source: string, more: Fields = {}): Fields {
  return { ...COMMON, hook_event_name: 'SessionStart', source, ...more }
}

/** What the hook gets on stdin, and the word at the end of its command. */
export interface HookEvent {
  readonly hook: Fields
  readonly words?: readonly string[]
}

/** One of each event but shell calls. */
export const HOOK_EVENTS: readonly HookEvent[] = [
  { hook: stop() },
  { hook: subagentStop() },
  { hook: structuredAnswer() },
  { hook: sessionStart('startup'), words: ['SessionStart'] },
  { hook: agentReturned('Done.'), words: ['Agent'] },
]
