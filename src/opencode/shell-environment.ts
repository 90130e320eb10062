import { ROOTS_FILE_VARIABLE } from '../project/roots-file.ts'
import type { Agent } from './sessions.ts'

/**
 * Puts the session and the agent into the environment of the agent's commands, so that `postflight create` knows the
 * owner: OpenCode does not do this itself.
 */

/** Sets session, agent and the file for roots in a shell's environment. */
export function tellShell(env: Record<string, string>, agent: Agent, rootsFile: string | undefined): void {
  env.POSTFLIGHT_HOST_SESSION = agent.root
  env.POSTFLIGHT_AGENT = agent.agent
  if (rootsFile !== undefined) env[ROOTS_FILE_VARIABLE] = rootsFile
}
