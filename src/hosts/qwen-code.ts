import { isJsonObject, known } from '../kernel/values.ts'
import { BOTH_STOPS, eventEntries, type HookHost } from './hook-entries.ts'
import { type HostDifference, hasVariable } from './host.ts'
import { MAIN_AGENT, type PayloadFields } from './payload.ts'

/** Qwen Code (measured with 0.24.4). Shell and payloads name the same ids. */
export const qwenCode: HostDifference = {
  name: 'qwen',
  recognizes: hasVariable('QWEN_PROJECT_DIR'),
  // It ends the session without a stop hook.
  endingTools: ['structured_output'],
  readFields: (fields) => ({ ...fields, ...scheduledWakeUps(fields) }),
  sessionVariable: 'QWEN_CODE_SESSION_ID',
  // Empty in the main conversation.
  readShell: ({ QWEN_CODE_AGENT_ID: agent }) => known({ agent: agent === '' ? MAIN_AGENT : agent }),
}

function scheduledWakeUps({ session_crons: scheduled, crons }: PayloadFields): PayloadFields {
  if (scheduled !== undefined || !Array.isArray(crons)) return {}
  return { session_crons: crons.filter((cron) => !isJsonObject(cron) || cron.enabled !== false) }
}

/** In Qwen Code 0.24.4 `Bash` matches the shell tool. */
export const qwenCodeSettings = {
  title: 'Qwen Code',
  folder: '.qwen',
  folderVariable: 'QWEN_HOME',
  file: 'settings.json',
  accepts: ['comments', 'mark'],
  tellsProject: true,
  offSwitch: 'disableAllHooks',
  entries: (command) => eventEntries(command, BOTH_STOPS, 'Bash', qwenCode.endingTools),
} as const satisfies HookHost
