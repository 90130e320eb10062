/** The sessions that `spawnAgent` created, in all copies of it in this process: no rule may start another agent for them. */

// On the global object, because the plugin and other plugins may each have a copy of this module.
const KEY = Symbol.for('postflight-guard.opencode.spawned')

/** The number of sessions that are remembered. */
const MEMORY = 1_000

type Holder = { [KEY]?: Set<string> }

function spawned(): Set<string> {
  const holder = globalThis as Holder
  holder[KEY] ??= new Set()
  return holder[KEY]
}

/** Notes a session of `spawnAgent`. */
export function noteSpawned(session: string): void {
  const sessions = spawned().add(session)
  if (sessions.size > MEMORY) for (const oldest of [...sessions].slice(0, -MEMORY)) sessions.delete(oldest)
}

/** True for a session that `spawnAgent` created. */
export function isSpawned(session: string): boolean {
  return spawned().has(session)
}
