import { hostsOfShell, shellIdentity } from '../hosts/all-hosts.ts'
import { OWNER_FROM_ENVIRONMENT } from '../marker/marker.ts'
import type { CommandContext } from '../project/command-context.ts'

export type Identity = Readonly<ReturnType<typeof callerOf>>

type Named = Readonly<{ hostSession?: string | undefined; agent?: string }>

export function callerOf({ environment }: CommandContext, { hostSession, agent }: Named) {
  const fromShell = shellIdentity(environment)
  // The environment's agent belongs to its own session.
  const sameSession = hostSession === undefined || hostSession === fromShell?.session
  const isFromEnvironment = hostSession === undefined && (agent === undefined || hostsOfShell(environment).length > 1)
  return {
    session: hostSession ?? fromShell?.session,
    agent: agent ?? (sameSession ? fromShell?.agent : undefined),
    isSubagent: sameSession && fromShell?.isSubagent === true,
    /** The hook may correct such an owner (docs/design.md, "Ownership"). */
    ownerFrom: isFromEnvironment && fromShell !== undefined ? OWNER_FROM_ENVIRONMENT : undefined,
  }
}
