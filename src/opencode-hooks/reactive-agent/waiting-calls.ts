import type { HostClient } from '../../hosts/opencode/api.ts'
import type { HostEvent } from '../../hosts/opencode/plugin-api.ts'
import { need } from '../../hosts/opencode/refusal.ts'

/**
 * The tool calls that wait for analyses. When the user interrupts a conversation, OpenCode 1.18.34 makes it idle at once, but
 * neither the hook nor a session of its own ends, and the tool could still run afterwards.
 */

/** The largest depth of sub-agents: the bound of the walk to the root. */
const MAX_DEPTH = 50

/** A call that waits. */
interface WaitingCall {
  /** Its session and those above it; first only its own. */
  lineage: readonly string[]
  readonly controller: AbortController
}

/** The calls that wait. */
export class WaitingCalls {
  readonly #client: HostClient
  readonly #calls = new Set<WaitingCall>()

  constructor(client: HostClient) {
    this.#client = client
  }

  /**
   * Runs `work` for a call of a session. `signal` is raised when the user interrupts the session or one above it, or
   * deletes it; `lineage` are these sessions, itself first.
   */
  async hold<T>(
    session: string,
    work: (signal: AbortSignal, lineage: readonly string[]) => Promise<T>,
  ): Promise<{ readonly result: T; readonly isInterrupted: boolean }> {
    const call: WaitingCall = { lineage: [session], controller: new AbortController() }
    this.#calls.add(call)
    try {
      call.lineage = await this.#lineageOf(session)
      const result = await work(call.controller.signal, call.lineage)
      return { result, isInterrupted: call.controller.signal.aborted || (await this.#isIdle(session)) }
    } finally {
      this.#calls.delete(call)
    }
  }

  /** Handles an event. */
  onEvent({ type, properties = {} }: HostEvent): void {
    const isInterruption = type === 'session.error' && properties.error?.name === 'MessageAbortedError'
    const ended = isInterruption ? properties.sessionID : type === 'session.deleted' ? properties.info?.id : undefined
    if (ended === undefined) return
    for (const { lineage, controller } of this.#calls) if (lineage.includes(ended)) controller.abort()
  }

  /** The session and those above it; only those that OpenCode could name. */
  async #lineageOf(session: string): Promise<string[]> {
    const lineage = [session]
    try {
      for (let depth = 0; depth < MAX_DEPTH; depth++) {
        const id = lineage.at(-1) as string
        const { parentID } = need(await this.#client.session.get({ path: { id } }), 'session.get', id)
        if (parentID === undefined) break
        lineage.push(parentID)
      }
    } catch {}
    return lineage
  }

  /** True for a session that is idle although a call of it waits: its interruption came before the call was noted. */
  async #isIdle(session: string): Promise<boolean> {
    try {
      const { data } = await this.#client.session.status()
      return data !== undefined && (data[session]?.type ?? 'idle') === 'idle'
    } catch {
      return false
    }
  }
}
