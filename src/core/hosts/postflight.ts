import { type HostDifference, variable } from './host.ts'

/** A host, or a person, that tells us directly. */
export const postflight: HostDifference = {
  shellIdentity(environment) {
    const session = variable(environment, 'POSTFLIGHT_HOST_SESSION')
    if (session === undefined) return undefined
    const agent = variable(environment, 'POSTFLIGHT_AGENT')
    return agent === undefined ? { session } : { session, agent }
  },
}
