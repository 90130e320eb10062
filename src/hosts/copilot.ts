import { isJsonObject } from '../kernel/values.ts'
import { BOTH_STOPS, eventEntries, type HookHost } from './hook-entries.ts'
import { type HostDifference, hasVariable, type ReadEnd } from './host.ts'
import type { PayloadFields } from './payload.ts'

const isHook = hasVariable('COPILOT_PROJECT_DIR')

/** Copilot CLI (measured with 1.0.102). It also runs Claude Code's hooks. */
export const copilot: HostDifference = {
  name: 'copilot',
  recognizes: isHook,
  repeatsTime: isHook,
  // Hosts in Copilot's shell inherit COPILOT_CLI, but not COPILOT_PROJECT_DIR.
  takesContextAtTop: isHook,
  // Copilot asks the stop hook after this tool, but ignores a block.
  endingTools: ['task_complete'],
  readFields: (fields, readEnd) => ({ ...fields, ...sessionOfSubagent(fields), ...responseOfTool(fields, readEnd) }),
  // No payload has the sub-agent's id in the shell (docs/design.md, "Ownership"). Copilot reads a pipe.
  sessionVariable: 'COPILOT_AGENT_SESSION_ID',
  readShell: () => ({ isPiped: true }),
  // It also sends a Stop for each sub-agent, and ignores the answer.
  exempts: (payload) =>
    payload.event === 'Stop' && payload.parentAgent !== undefined
      ? { host: 'Copilot CLI', why: 'answer-ignored' }
      : undefined,
}

/** A sub-agent sends its own id at `PostToolUse`; a nested one sends a third id at `SubagentStop`. */
function sessionOfSubagent({ parent_agent_id: parent }: PayloadFields): PayloadFields {
  return typeof parent === 'string' && parent !== '' ? { session_id: parent } : {}
}

function responseOfTool(fields: PayloadFields, readEnd: ReadEnd): PayloadFields {
  const { tool_response: response, tool_result: result } = fields
  if (response !== undefined || !isJsonObject(result)) return {}
  const { text_result_for_llm: text } = result
  // Of more than 20 KB it sends only the beginning.
  const [, saved] = /^Output too large [^\n]*\. Saved to: ([^\n]+)/.exec(String(text)) ?? []
  return { tool_response: saved === undefined ? text : `${text}\n${readEnd(saved)}` }
}

/** Copilot 1.0.102 reads a trusted folder's Claude Code settings, but not the user's. */
export const copilotSettings = {
  title: 'Copilot CLI',
  folder: '.copilot',
  folderVariable: 'COPILOT_HOME',
  file: 'hooks/postflight-guard.json',
  accepts: [],
  projectHooks: '.github/hooks',
  readsClaudeSettings: true,
  tellsProject: true,
  // In a file of hooks it switches off that file, in these settings every hook (1.0.102).
  offSwitch: 'disableAllHooks',
  projectSettings: '.github/copilot/settings.json',
  entries: (command) => eventEntries(command, BOTH_STOPS, 'Bash', copilot.endingTools),
  trust: {
    note: 'Copilot CLI runs the hooks of a project only in a folder that you trust: say yes when it asks, or start it with --trust-folder.',
    onlyInProjects: true,
  },
} as const satisfies HookHost
