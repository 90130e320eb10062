import { type HostClient, type HostEvent, need, type SessionInfo, type UserMessage } from './api.ts'

const MAX_DEPTH = 50

/** Tool hooks name neither agent nor parent. */
export class SessionTree {
  readonly #client: HostClient
  readonly #parents = new Map<string, string | undefined>()
  readonly #agents = new Map<string, string>()

  constructor(client: HostClient) {
    this.#client = client
  }

  /** Returns the session that was deleted. */
  noteEvent({ type, properties = {} }: HostEvent): string | undefined {
    const { info } = properties
    if (info !== undefined && type === 'session.created') this.note(info)
    if (info === undefined || type !== 'session.deleted') return undefined
    this.forget(info.id)
    return info.id
  }

  noteMessage({ sessionID, agent }: Pick<UserMessage, 'sessionID' | 'agent'>): void {
    this.#agents.set(sessionID, agent)
  }

  /** The agent of the session's last message. */
  agentOf(session: string): string | undefined {
    return this.#agents.get(session)
  }

  /** The session, and those above it up to its root. */
  async lineageOf(session: string): Promise<string[]> {
    const lineage = [session]
    for (let id = session; lineage.length <= MAX_DEPTH; ) {
      // A session created before this process has sent no event.
      if (!this.#parents.has(id)) {
        this.note(need(await this.#client.session.get({ path: { id } }), 'session.get', id))
      }
      const parent = this.#parents.get(id)
      if (parent === undefined) break
      lineage.push(parent)
      id = parent
    }
    return lineage
  }

  async isMain(session: string): Promise<boolean> {
    return (await this.lineageOf(session)).length === 1
  }

  isBelow(session: string, ancestor: string): boolean {
    let current: string | undefined = session
    for (let depth = 0; depth < MAX_DEPTH && current !== undefined; depth++) {
      current = this.#parents.get(current)
      if (current === ancestor) return true
    }
    return false
  }

  protected note({ id, parentID }: SessionInfo): void {
    this.#parents.set(id, parentID)
  }

  protected forget(session: string): void {
    this.#parents.delete(session)
    this.#agents.delete(session)
  }
}
