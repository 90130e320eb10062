import type { HostEvent } from '../../hosts/opencode/plugin-api.ts'
import type { KnownSessions } from '../known-sessions.ts'
import type { Reporter } from '../reporter.ts'
import { type RateLimitTest, rateLimitIn } from './rate-limit.ts'
import { FALLBACK_TEXT } from './texts.ts'

/** Tells the user of `opencode run` once that a rate limit cannot be answered with the rest of the chain. */

/** The dependencies of the notice. */
export interface NoticePorts {
  readonly reporter: Reporter
  readonly sessions: KnownSessions
  readonly chains: Readonly<Record<string, readonly string[]>>
  readonly isRateLimit: RateLimitTest
  /** The models that a session's message was sent to. */
  readonly triedBy: (session: string) => ReadonlySet<string>
}

/** Watches for rate limits that reach OpenCode. */
export class OneShotNotice {
  readonly #ports: NoticePorts
  readonly #told = new Set<string>()

  constructor(ports: NoticePorts) {
    this.#ports = ports
  }

  /** Handles an event. */
  async onEvent(event: HostEvent): Promise<void> {
    const { reporter, sessions, chains, isRateLimit, triedBy } = this.#ports
    const sessionID = event.properties?.sessionID
    if (sessionID === undefined || this.#told.has(sessionID)) return
    const chain = chains[sessions.agentOf(sessionID) ?? '']
    if (chain === undefined || rateLimitIn(event, isRateLimit) === undefined) return
    this.#told.add(sessionID)
    if (!(await sessions.isMain(sessionID))) return
    const tried = triedBy(sessionID)
    const left = chain.filter((name) => !tried.has(name))
    reporter.notice(left.length === 0 ? FALLBACK_TEXT.exhausted([...tried]) : FALLBACK_TEXT.cannotSwitch(left))
  }
}
