import type { CommandContext } from '../project/command-context.ts'
import { shellIdentity } from './all-hosts.ts'

/** The session and the agent that make a promise. Undefined means not known. */
export interface Identity {
  readonly session: string | undefined
  readonly agent: string | undefined
}

/** The identity from the options, or from the environment of the host's shell (docs/design.md, "Commands"). */
export function callerOf(
  context: CommandContext,
  options: { readonly hostSession?: string; readonly agent?: string },
): Identity {
  const fromShell = shellIdentity(context.environment)
  // The environment's agent belongs to the environment's session, not to one that an option names.
  const sameSession = options.hostSession === undefined || options.hostSession === fromShell?.session
  return {
    session: options.hostSession ?? fromShell?.session,
    agent: options.agent ?? (sameSession ? fromShell?.agent : undefined),
  }
}
