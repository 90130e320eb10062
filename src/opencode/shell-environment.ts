import type { Agent } from './sessions.ts'

/** What the agent's commands are told, so that `postflight create` knows its owner (OpenCode itself tells nothing). */

/** Puts session and agent into a shell's environment. */
export function tellShell(env: Record<string, string>, agent: Agent): void {
  env.POSTFLIGHT_HOST_SESSION = agent.root
  env.POSTFLIGHT_AGENT = agent.agent
}
