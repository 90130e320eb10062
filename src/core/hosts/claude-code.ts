import type { Payload } from '../payload.ts'
import { type Environment, type HostDifference, variable } from './host.ts'

/** Claude Code (measured with 2.1.329). */
export const claudeCode: HostDifference = {
  projectVariables: ['CLAUDE_PROJECT_DIR'],
  // The Bash tool's environment names the session, but not the agent: main and sub-agents have the same one.
  shellIdentity(environment) {
    const session = variable(environment, 'CLAUDE_CODE_SESSION_ID')
    return session === undefined ? undefined : { session, tellsDuration: true }
  },
  // Its compaction is a sub-agent too, the only kind without a type. A block would replace its summary.
  exempts: (payload) =>
    payload.event === 'SubagentStop' && payload.agentType === ''
      ? { host: 'Claude Code', why: 'own-agent' }
      : undefined,
  showsNotice: isHookOfClaudeCode,
  // `PostToolUse` of the tool `Agent` names the agent, and its `additionalContext` reaches the caller.
  handsOverReports: isHookOfClaudeCode,
}

/**
 * In a hook, CLAUDE_CODE_SESSION_ID equals the payload's session_id. A host that was started from Claude Code's shell
 * inherits the variable, but its payload has another session.
 */
function isHookOfClaudeCode(payload: Payload, environment: Environment): boolean {
  const session = variable(environment, 'CLAUDE_CODE_SESSION_ID')
  return session === undefined ? environment.CLAUDECODE === '1' : session === payload.session
}
