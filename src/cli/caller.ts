import { hostsOfShell, shellIdentity } from '../hosts/all-hosts.ts'
import type { CommandContext } from '../project/command-context.ts'

export type Identity = Readonly<{ session: string | undefined; agent: string | undefined; isSubagent?: boolean }>

type Named = Readonly<{ hostSession?: string | undefined; agent?: string }>

export function callerOf(context: CommandContext, options: Named): Identity {
  const fromShell = shellIdentity(context.environment)
  // The environment's agent belongs to its own session.
  const sameSession = options.hostSession === undefined || options.hostSession === fromShell?.session
  return {
    session: options.hostSession ?? fromShell?.session,
    agent: options.agent ?? (sameSession ? fromShell?.agent : undefined),
    isSubagent: sameSession && fromShell?.isSubagent === true,
  }
}

/** The hook may correct such an owner (docs/design.md, "Ownership"). */
export function isFromEnvironment({ environment }: CommandContext, { hostSession, agent }: Named): boolean {
  return hostSession === undefined && (agent === undefined || hostsOfShell(environment).length > 1)
}
