import { type Environment, isJsonObject, variable } from '../kernel/values.ts'
import type { HostDifference } from './host.ts'
import type { Payload, PayloadFields } from './payload.ts'

/** Claude Code (measured with 2.1.329). */
export const claudeCode: HostDifference = {
  name: 'claude',
  // A schema's answer; a report in mode `auto`. The host asks the stop hook, but ignores a block (2.1.330).
  endingTools: ['StructuredOutput', 'SubagentHandback'],
  readFields: (fields) => ({ ...fields, ...reportOf(fields), ...failedCommand(fields) }),
  // Main agent and sub-agents share the Bash environment.
  sessionVariable: 'CLAUDE_CODE_SESSION_ID',
  readShell: () => ({ tellsDuration: true }),
  // Its compaction has an empty type; a block would replace the summary. A hook's agent has only an id (2.1.330).
  exempts: (payload) =>
    payload.event === 'SubagentStop' &&
    (payload.agentType === '' || (payload.endingTool !== undefined && payload.agentType === undefined))
      ? { host: 'Claude Code', why: 'own-agent' }
      : undefined,
  showsNotice: isOwnHook,
  // The model gets a block's reason twice (2.1.329), and its `additionalContext` once.
  takesContextOfBlock: (payload, environment) => isOwnHook(payload, environment) && isSince([2, 1, 163], environment),
  // Since 2.1.141. Hooks have no terminal.
  writesSequences: (payload, environment) => isOwnHook(payload, environment) && isSince([2, 1, 141], environment),
  handsOverReports: isOwnHook,
}

/** A stop by SubagentHandback has no last message. */
function reportOf({ tool_name: tool, tool_input: input }: PayloadFields): PayloadFields {
  return tool === 'SubagentHandback' && isJsonObject(input) ? { last_assistant_message: input.message } : {}
}

/** It ended with another code than 0 (2.1.330). After an interruption there is no event. */
function failedCommand({ hook_event_name: event, error }: PayloadFields): PayloadFields {
  return event === 'PostToolUseFailure' ? { hook_event_name: 'PostToolUse', tool_response: error } : {}
}

/** A host in Claude Code's shell inherits the variable, but its payload has another session. */
function isOwnHook(payload: Payload, environment: Environment): boolean {
  const session = variable(environment, 'CLAUDE_CODE_SESSION_ID')
  return session === undefined ? environment.CLAUDECODE === '1' : session === payload.session
}

/** In hooks, AI_AGENT is `claude-code_2-1-329_harness`. */
function isSince(least: readonly number[], { AI_AGENT = '' }: Environment): boolean {
  const version = /^claude-code_(\d+)-(\d+)-(\d+)_harness$/.exec(AI_AGENT)?.slice(1).map(Number)
  if (version === undefined) return false
  const differs = least.findIndex((part, at) => part !== version[at])
  return differs === -1 || Number(version[differs]) > Number(least[differs])
}
