import type { HostClient, Message } from '../../hosts/opencode/api.ts'

/**
 * Waits for the request of a session's title. OpenCode 1.18.34 begins it beside the first request of a conversation and
 * takes its messages from the same list, at an unpredictable moment: text that is added to the list too early also
 * reaches the title.
 */

/** The longest time (ms) that a title is waited for. */
const LONGEST_WAIT_MS = 1_000

/** The titles that OpenCode gives to a session before the model does. */
const DEFAULT_TITLE = /^New session - \d/

/** The number of sessions whose title is remembered. */
const MEMORY = 1_000

/** The requests of titles. */
export class TitleWait {
  readonly #client: HostClient
  /** Sessions whose title was asked for. */
  readonly #asked = new Set<string>()
  readonly #waiting = new Map<string, () => void>()

  constructor(client: HostClient) {
    this.#client = client
  }

  /** Notes the request of a session's title, whose messages are complete then. */
  noteTitle(session: string): void {
    this.#waiting.get(session)?.()
    this.#asked.add(session)
    const [oldest] = this.#asked
    if (this.#asked.size > MEMORY && oldest !== undefined) this.#asked.delete(oldest)
  }

  /** Resolves when these messages of a session's request may be changed. */
  async settled(session: string, messages: readonly Message[]): Promise<void> {
    if (this.#asked.has(session) || messages.some(({ info }) => info.role === 'assistant')) return
    const { data } = await this.#client.session.get({ path: { id: session } })
    if (this.#asked.has(session) || !DEFAULT_TITLE.test(data?.title ?? '')) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LONGEST_WAIT_MS)
      this.#waiting.set(session, () => {
        clearTimeout(timer)
        resolve()
      })
    })
    this.#waiting.delete(session)
  }
}
