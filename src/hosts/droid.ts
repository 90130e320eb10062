import { eventEntries, type HookHost } from './hook-entries.ts'
import { type HostDifference, hasVariable, type ReadEnd } from './host.ts'
import { MAIN_AGENT, type Payload } from './payload.ts'

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
  exempts(payload, environment, readEnd) {
    if (!isHook(payload, environment)) return undefined
    // A sub-agent stops with `Stop`; the SubagentStop after it is only a notification.
    if (payload.event === 'SubagentStop') return { host: 'droid', why: 'answer-ignored' }
    return payload.event === 'Stop' && wasCutOff(payload, readEnd) ? { host: 'droid', why: 'cut-off' } : undefined
  },
}

/**
 * After Esc during a command, and after an error of the model's API, 0.225.2 also asks the stop hook. Then the last message in
 * the transcript is a cancelled tool's result, or a notice. An empty answer leaves no message.
 */
function wasCutOff({ lastMessageId, transcript }: Payload, readEnd: ReadEnd): boolean {
  if (lastMessageId === undefined || transcript === undefined) return false
  const [, message] = readEnd(transcript).split(`"id":${JSON.stringify(lastMessageId)}`)
  return message !== undefined && CUT_OFF.test(message)
}

const CUT_OFF =
  /^[^\n]*"role":"user"[^\n]*"(?:visibility":|content":"(?:Error: )?Tool (?:execution )?(?:was )?cancelled)/

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
