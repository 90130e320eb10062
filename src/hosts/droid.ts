import { eventEntries, type HookHost } from './hook-entries.ts'
import { type HostDifference, hasVariable } from './host.ts'
import { MAIN_AGENT } from './payload.ts'

const isHook = hasVariable('FACTORY_PROJECT_DIR')

/** Factory droid (measured with 0.225.2). */
export const droid: HostDifference = {
  name: 'droid',
  recognizes: isHook,
  // The launcher sets it. A sub-agent is a session of its own.
  sessionVariable: 'POSTFLIGHT_DROID_SESSION',
  readShell(environment, session) {
    const isSubagent = environment.POSTFLIGHT_DROID_SUBAGENT === session
    return { agent: MAIN_AGENT, ...(isSubagent && { isSubagent }) }
  },
  startsSubagent: (payload, environment) => payload.caller !== undefined && isHook(payload, environment),
  // A sub-agent stops with `Stop`; the SubagentStop after it is only a notification.
  exempts: (payload, environment) =>
    payload.event === 'SubagentStop' && isHook(payload, environment)
      ? { host: 'droid', why: 'answer-ignored' }
      : undefined,
}

export const droidSettings = {
  title: 'Factory droid',
  folder: '.factory',
  file: 'settings.json',
  accepts: ['comments'],
  hooksFiles: ['hooks.json', 'hooks/hooks.json'],
  tellsProject: true,
  offSwitch: 'hooksDisabled',
  entries: (command) => eventEntries(command, ['Stop'], 'Execute'),
} as const satisfies HookHost
