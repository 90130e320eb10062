import { type HostDifference, variable } from './host.ts'

/** Copilot CLI (measured with 1.0.102). It also runs the hooks that are installed for Claude Code. */
export const copilot: HostDifference = {
  projectVariables: ['COPILOT_PROJECT_DIR'],
  recognizes: (_payload, environment) => variable(environment, 'COPILOT_PROJECT_DIR') !== undefined,
  shellIdentity(environment) {
    const session = variable(environment, 'COPILOT_AGENT_SESSION_ID')
    return session === undefined ? undefined : { session }
  },
  // It asks twice for each sub-agent: a Stop with parent_agent_id, whose answer it ignores, then the SubagentStop.
  exempts: (payload) =>
    payload.event === 'Stop' && payload.parentAgent !== undefined
      ? { host: 'Copilot CLI', why: 'answer-ignored' }
      : undefined,
}
