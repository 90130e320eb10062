import { variable } from '../kernel/environment.ts'
import { isJsonObject } from '../kernel/json-object.ts'
import { BOTH_STOPS, eventEntries, type HookHost } from './hook-entries.ts'
import { type HostDifference, hasVariable, type PayloadFields } from './host.ts'

const isHook = hasVariable('COPILOT_PROJECT_DIR')

/** Copilot CLI (measured with 1.0.102). It also runs the hooks that are installed for Claude Code. */
export const copilot: HostDifference = {
  recognizes: isHook,
  // Only hooks have COPILOT_PROJECT_DIR. Another host in Copilot's shell inherits COPILOT_CLI.
  takesContextAtTop: isHook,
  // Its autopilot ends with the call of this tool. It asks the stop hook behind it, and throws a block away.
  endingTools: ['task_complete'],
  readFields: (fields) => ({ ...fields, ...sessionOfSubagent(fields), ...responseOfTool(fields) }),
  // The id in a sub-agent's shell occurs in no payload, so `PostToolUse` names the owner (docs/design.md, "Ownership").
  // The shell writes into a pipe, which Copilot reads.
  shellIdentity(environment) {
    const session = variable(environment, 'COPILOT_AGENT_SESSION_ID')
    return session === undefined ? undefined : { session, isPiped: true }
  },
  // It asks twice for each sub-agent: a Stop with parent_agent_id, whose answer it ignores, then the SubagentStop.
  exempts: (payload) =>
    payload.event === 'Stop' && payload.parentAgent !== undefined
      ? { host: 'Copilot CLI', why: 'answer-ignored' }
      : undefined,
}

/**
 * The session of a sub-agent is that of its parent: for a sub-agent of the main conversation the conversation's. `session_id`
 * is the sub-agent itself at `PostToolUse`, and in a sub-agent of a sub-agent a third id at `SubagentStop`.
 */
function sessionOfSubagent({ parent_agent_id: parent }: PayloadFields): PayloadFields {
  return typeof parent === 'string' && parent !== '' ? { session_id: parent } : {}
}

function responseOfTool({ tool_response: response, tool_result: result }: PayloadFields): PayloadFields {
  return response === undefined && isJsonObject(result) ? { tool_response: result.text_result_for_llm } : {}
}

/** Copilot 1.0.102 reads Claude Code's settings in a trusted folder, but not those of the user. */
export const copilotSettings = {
  title: 'Copilot CLI',
  folder: '.copilot',
  folderVariable: 'COPILOT_HOME',
  file: 'hooks/postflight-guard.json',
  readsClaudeSettings: true,
  tellsProject: true,
  entries: (command) => eventEntries(command, BOTH_STOPS, 'Bash', 'task_complete'),
  trust: 'folder',
} as const satisfies HookHost
