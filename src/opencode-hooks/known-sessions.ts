import { type HostClient, type HostEvent, need, type SessionInfo, type UserMessage } from '../hosts/opencode/api.ts'

/** The sessions that a factory has seen: tool hooks name neither the agent nor the parent of a session. */
export class KnownSessions {
  readonly #client: HostClient
  readonly #agents = new Map<string, string>()
  readonly #parents = new Map<string, string | undefined>()

  constructor(client: HostClient) {
    this.#client = client
  }

  /** Notes the agent of a message's session. For `chat.message`. */
  noteMessage({ sessionID, agent }: Pick<UserMessage, 'sessionID' | 'agent'>): void {
    this.#agents.set(sessionID, agent)
  }

  /** Notes a created session, and forgets a deleted one. For `event`. Returns the id of a deleted session. */
  noteEvent({ type, properties = {} }: HostEvent): string | undefined {
    const { info } = properties
    if (info === undefined) return undefined
    if (type === 'session.created') this.#note(info)
    if (type !== 'session.deleted') return undefined
    this.#agents.delete(info.id)
    this.#parents.delete(info.id)
    return info.id
  }

  /** The agent that a session runs; undefined until a message named it. */
  agentOf(session: string): string | undefined {
    return this.#agents.get(session)
  }

  /** True for a conversation that no other session started. @throws {Error} when OpenCode does not answer. */
  async isMain(session: string): Promise<boolean> {
    if (!this.#parents.has(session)) {
      this.#note(need(await this.#client.session.get({ path: { id: session } }), 'session.get', session))
    }
    return this.#parents.get(session) === undefined
  }

  #note({ id, parentID }: SessionInfo): void {
    this.#parents.set(id, parentID)
  }
}
