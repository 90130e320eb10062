import type { HostClient } from '../../hosts/opencode/api.ts'
import { ownText, readLastTurn, sendPrompt } from '../../hosts/opencode/conversation.ts'
import type { Agent, Sessions } from '../sessions.ts'
import type { Guard } from './guard.ts'

/**
 * Holds main conversations where the process goes on (`opencode serve`, the terminal interface): an idle conversation is
 * prompted again.
 */

/** Answers idle events. */
export class IdleGuard {
  readonly #client: HostClient
  readonly #sessions: Sessions
  readonly #guard: Guard
  /** The last message that was handled, by session: after an error OpenCode sends the idle event twice (1.18.34). */
  readonly #seen = new Map<string, string>()

  constructor(client: HostClient, sessions: Sessions, guard: Guard) {
    this.#client = client
    this.#sessions = sessions
    this.#guard = guard
  }

  /** Handles an idle conversation. Errors, interruptions, refused tools and compactions are left to the user. */
  async answer(agent: Agent): Promise<void> {
    const { session } = agent
    const { manner, answer, ended } = await readLastTurn(this.#client, session)
    if (ended !== 'well' || manner === undefined || answer === undefined) return
    if (this.#seen.get(session) === answer.id) return
    this.#seen.set(session, answer.id)
    const { reason } = await this.#guard.stop(agent, await this.#sessions.countBusyBelow(session))
    if (reason !== undefined) await sendPrompt(this.#client, session, { ...manner, parts: [ownText(reason)] })
  }

  /** Forgets a session that was deleted. */
  forget(session: string): void {
    this.#seen.delete(session)
  }
}
