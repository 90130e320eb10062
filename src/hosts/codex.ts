import { variable } from '../kernel/environment.ts'
import { known } from '../kernel/json-object.ts'
import type { HostDifference } from './host.ts'

/** Codex CLI (measured with 0.169.0). Its shell names root session and thread; a sub-agent has its own thread. */
export const codex: HostDifference = {
  recognizes: (payload) => payload.turn !== undefined,
  shellIdentity(environment) {
    const session = variable(environment, 'CODEX_SESSION_ID')
    if (session === undefined) return undefined
    const thread = variable(environment, 'CODEX_THREAD_ID')
    return known({ session, agent: thread === session ? 'main' : thread })
  },
}
