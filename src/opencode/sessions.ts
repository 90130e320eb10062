import { MAIN_AGENT } from '../core/marker.ts'
import type { HostClient, SessionInfo } from './host/api.ts'
import { need } from './host/conversation.ts'

/**
 * Who is who. The host session of every agent is the conversation at the root, whatever session the agent runs in;
 * its agent is `main`, or the id of its own session. So a sub-agent's stop reads as `SubagentStop` of that agent, as on
 * every other host, and one table decides.
 */

/** An agent of OpenCode. */
export interface Agent {
  /** The session it runs in. */
  readonly session: string
  /** The session at the root: the marker's `cc_session_id`. */
  readonly root: string
  /** `main`, or its own session: the marker's `agent_id`. */
  readonly agent: string
  /** OpenCode's name of the agent, such as `general`; undefined where it was not heard yet. */
  readonly type: string | undefined
}

/** More shell folders of one conversation than this are not searched. */
const MAX_FOLDERS = 20

/** More levels of sub-agents than this are no tree. */
const MAX_DEPTH = 50

/** What is known of the sessions of one project folder. */
export class Sessions {
  readonly #client: HostClient
  readonly #parents = new Map<string, string | undefined>()
  readonly #types = new Map<string, string>()
  readonly #births = new Map<string, number>()
  readonly #folders = new Map<string, Set<string>>()

  constructor(client: HostClient) {
    this.#client = client
  }

  /** Hears of a session. */
  note({ id, parentID, time }: SessionInfo): void {
    this.#parents.set(id, parentID)
    if (time !== undefined) this.#births.set(id, time.created)
  }

  /** When a session was created (ms since the epoch); undefined where the host did not say. */
  bornMs(session: string): number | undefined {
    return this.#births.get(session)
  }

  /** Hears which agent a session runs. */
  noteType(session: string, type: string): void {
    this.#types.set(session, type)
  }

  /** Hears where a session's shell ran: its markers may lie there. */
  noteFolder(root: string, folder: string): void {
    const folders = this.#folders.get(root) ?? new Set()
    if (folders.size < MAX_FOLDERS) folders.add(folder)
    this.#folders.set(root, folders)
  }

  /** Where the shells of a conversation ran. */
  foldersOf(root: string): readonly string[] {
    return [...(this.#folders.get(root) ?? [])]
  }

  /** Forgets a session that was deleted. */
  forget(session: string): void {
    for (const known of [this.#parents, this.#types, this.#births, this.#folders]) known.delete(session)
  }

  /** Who runs in a session. @throws {Error} when the host does not say. */
  async identify(session: string): Promise<Agent> {
    let root = session
    for (let depth = 0; depth < MAX_DEPTH; depth++) {
      const parent = await this.#parentOf(root)
      if (parent === undefined) break
      root = parent
    }
    return { session, root, agent: root === session ? MAIN_AGENT : session, type: this.#types.get(session) }
  }

  async #parentOf(session: string): Promise<string | undefined> {
    // A conversation that is continued was created before this process.
    if (!this.#parents.has(session)) {
      this.note(need(await this.#client.session.get({ path: { id: session } }), 'session.get'))
    }
    return this.#parents.get(session)
  }

  /** How many sessions below one are busy. @throws {Error} when the host does not say. */
  async countBusyBelow(session: string): Promise<number> {
    const status = need(await this.#client.session.status(), 'session.status')
    return Object.entries(status).filter(([id, { type }]) => type !== 'idle' && this.isBelow(id, session)).length
  }

  /** True when `ancestor` is above `session`, as far as is known. */
  isBelow(session: string, ancestor: string): boolean {
    let current: string | undefined = session
    for (let depth = 0; depth < MAX_DEPTH && current !== undefined; depth++) {
      current = this.#parents.get(current)
      if (current === ancestor) return true
    }
    return false
  }
}
