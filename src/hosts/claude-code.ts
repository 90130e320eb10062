import { type Environment, variable } from '../kernel/environment.ts'
import { isJsonObject } from '../kernel/json-object.ts'
import type { HostDifference, Payload, PayloadFields } from './host.ts'

/** Claude Code (measured with 2.1.329). */
export const claudeCode: HostDifference = {
  // The answer to `--json-schema`, or of a workflow's agent with a schema; a sub-agent's report in permission mode `auto`. The
  // host asks the stop hook behind it, and throws a block away (2.1.330).
  endingTools: ['StructuredOutput', 'SubagentHandback'],
  readFields: (fields) => ({ ...fields, ...reportOf(fields) }),
  // The Bash tool's environment names the session, but not the agent: main and sub-agents have the same one.
  shellIdentity(environment) {
    const session = variable(environment, 'CLAUDE_CODE_SESSION_ID')
    return session === undefined ? undefined : { session, tellsDuration: true }
  },
  // Its compaction is a sub-agent too, with an empty type; a block would replace its summary. The agent of a hook answers by
  // StructuredOutput, and has an id, but no type (2.1.330).
  exempts: (payload) =>
    payload.event === 'SubagentStop' &&
    (payload.agentType === '' || (payload.endingTool !== undefined && payload.agentType === undefined))
      ? { host: 'Claude Code', why: 'own-agent' }
      : undefined,
  showsNotice: isHookOfClaudeCode,
  // The model gets a block's reason twice (2.1.329), and its `additionalContext` once.
  takesContextOfBlock: (payload, environment) =>
    isHookOfClaudeCode(payload, environment) && isSince([2, 1, 163], environment),
  // Since 2.1.141; measured with 2.1.329. Hooks themselves have no terminal.
  writesSequences: (payload, environment) =>
    isHookOfClaudeCode(payload, environment) && isSince([2, 1, 141], environment),
  // `PostToolUse` of the tool `Agent` names the agent, and its `additionalContext` reaches the caller.
  handsOverReports: isHookOfClaudeCode,
}

/** The report in a call of SubagentHandback: such a stop has no last message. */
function reportOf({ tool_name: tool, tool_input: input }: PayloadFields): PayloadFields {
  return tool === 'SubagentHandback' && isJsonObject(input) ? { last_assistant_message: input.message } : {}
}

/**
 * In a hook, CLAUDE_CODE_SESSION_ID equals the payload's session_id. A host that was started from Claude Code's shell
 * inherits the variable, but its payload has another session.
 */
function isHookOfClaudeCode(payload: Payload, environment: Environment): boolean {
  const session = variable(environment, 'CLAUDE_CODE_SESSION_ID')
  return session === undefined ? environment.CLAUDECODE === '1' : session === payload.session
}

/** True for a hook's environment (`claude-code_2-1-329_harness`) of that version or a later one. */
function isSince(least: readonly number[], { AI_AGENT = '' }: Environment): boolean {
  const version = /^claude-code_(\d+)-(\d+)-(\d+)_harness$/.exec(AI_AGENT)?.slice(1).map(Number)
  if (version === undefined) return false
  const differs = least.findIndex((part, at) => part !== version[at])
  return differs === -1 || Number(version[differs]) > Number(least[differs])
}
