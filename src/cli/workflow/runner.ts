import type { Runner } from '../../io/workflow/run.ts'
import type { CommandContext } from '../context.ts'
import { callerOf } from '../identity.ts'
import { checkIds } from '../option-values.ts'

/** Who runs a workflow, for the commands that say so. */

export interface RunnerOptions {
  readonly hostSession?: string
  readonly parentSession?: string
}

/**
 * The sessions that were given, else the environment's.
 * @throws {PostflightError} `value-invalid`: an unset variable is no session, and nobody could drive its run.
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
