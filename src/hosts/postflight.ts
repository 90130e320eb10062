import { known, variable } from '../kernel/values.ts'
import type { HostDifference } from './host.ts'

export const postflight: HostDifference = {
  shellIdentity(environment) {
    const session = variable(environment, 'POSTFLIGHT_HOST_SESSION')
    if (session === undefined) return undefined
    const agent = variable(environment, 'POSTFLIGHT_AGENT')
    return known({ session, agent })
  },
}
