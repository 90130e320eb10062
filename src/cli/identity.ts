import { shellIdentity } from '../core/hosts/index.ts'
import type { CommandContext } from './context.ts'

/** Who makes a promise; undefined is not known. */
export interface Identity {
  readonly session: string | undefined
  readonly agent: string | undefined
}

/** Who makes the promise: what was given, else what the host's shell says (DESIGN section 7). */
export function callerOf(
  context: CommandContext,
  options: { readonly hostSession?: string; readonly agent?: string },
): Identity {
  const fromShell = shellIdentity(context.environment)
  // An agent of the environment belongs to the session of the environment, not to one that was given.
  const sameSession = options.hostSession === undefined || options.hostSession === fromShell?.session
  return {
    session: options.hostSession ?? fromShell?.session,
    agent: options.agent ?? (sameSession ? fromShell?.agent : undefined),
  }
}
