import { type HostDifference, variable } from './host.ts'

/** Claude Code (measured with 2.1.329). */
export const claudeCode: HostDifference = {
  projectVariables: ['CLAUDE_PROJECT_DIR'],
  // The Bash tool's environment is the same in main and in a sub-agent: it names the session, never the agent.
  shellIdentity(environment) {
    const session = variable(environment, 'CLAUDE_CODE_SESSION_ID')
    return session === undefined ? undefined : { session }
  },
  // Its compaction is a sub-agent too, the only kind without a type: a block would take its summary away.
  exempts: (payload) =>
    payload.event === 'SubagentStop' && payload.agentType === ''
      ? { host: 'Claude Code', why: 'own-agent' }
      : undefined,
  // Hooks have CLAUDE_CODE_SESSION_ID, equal to stdin's session_id. Another host that was started from Claude Code's
  // shell inherits the variable, but with a session that is not its own.
  showsNotice(payload, environment) {
    const session = variable(environment, 'CLAUDE_CODE_SESSION_ID')
    return session === undefined ? environment.CLAUDECODE === '1' : session === payload.session
  },
}
