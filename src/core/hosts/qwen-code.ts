import { MAIN_AGENT } from '../marker.ts'
import { type HostDifference, variable } from './host.ts'

/** Qwen Code (measured with 0.24.4). Its shell names the same ids as its payloads. */
export const qwenCode: HostDifference = {
  projectVariables: ['QWEN_PROJECT_DIR'],
  recognizes: (_payload, environment) => variable(environment, 'QWEN_PROJECT_DIR') !== undefined,
  shellIdentity(environment) {
    const session = variable(environment, 'QWEN_CODE_SESSION_ID')
    if (session === undefined) return undefined
    const agent = environment.QWEN_CODE_AGENT_ID
    // The variable is empty in the main conversation.
    return agent === undefined ? { session } : { session, agent: agent === '' ? MAIN_AGENT : agent }
  },
}
