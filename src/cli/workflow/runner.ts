import { callerOf } from '../../hosts/caller.ts'
import { shellIdentity } from '../../hosts/index.ts'
import type { CommandContext } from '../../project/command-context.ts'
import type { Runner } from '../../run/store/run.ts'
import type { Truster } from '../../run/store/trust.ts'
import { checkIds } from '../option-values.ts'

/** The sessions that run a workflow, for the commands that set them. */

export interface RunnerOptions {
  readonly hostSession?: string
  readonly parentSession?: string
}

/** The caller, for the trust in a run's commands. */
export function trusterOf(context: CommandContext, session = shellIdentity(context.environment)?.session): Truster {
  const { environment, findHome } = context
  return { environment, findHome, session }
}

/**
 * The sessions from the options, or from the environment.
 * @throws {PostflightError} `value-invalid`: an empty session (an unset variable) could not drive a run.
 */
export function runnerOf(context: CommandContext, options: RunnerOptions): Runner {
  const { hostSession, parentSession } = options
  checkIds([
    ['--host-session', hostSession],
    ['--parent-session', parentSession],
  ])
  const { session } = callerOf(context, options)
  return { hostSession: session, parentSession: parentSession ?? session }
}
