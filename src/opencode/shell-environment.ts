import type { Agent } from './sessions.ts'

/** Tells the agent's commands who runs them, so that `postflight create` knows the owner: OpenCode itself does not. */

/** Sets session and agent in a shell's environment. */
export function tellShell(env: Record<string, string>, agent: Agent): void {
  env.POSTFLIGHT_HOST_SESSION = agent.root
  env.POSTFLIGHT_AGENT = agent.agent
}
