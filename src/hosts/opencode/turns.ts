import { type HostClient, HostRefusal } from './api.ts'
import { type Manner, ownText, readLastTurn, sendPrompt } from './conversation.ts'
import { OPENCODE_TEXT } from './opencode-messages.ts'

/** OpenCode ends a request after five minutes (1.18.34), so we wait for events. Polling covers missed ones. */

const LOOK_AGAIN_MS = 2_000

/** OpenCode writes the end of the turn after the idle event. */
const LOOK_SOON_MS = 50

const IDLE_LIMIT_MS = 10_000

export type TurnAnswer =
  | { readonly kind: 'answered'; readonly text: string }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'given-up' }

interface Bell {
  isDeleted: boolean
  ring(): void
  /** Resolves to whether it rang in time. */
  next(patienceMs: number): Promise<boolean>
  stop(): void
}

export class Turns {
  readonly #client: HostClient
  readonly #waiting = new Map<string, Set<Bell>>()

  constructor(client: HostClient) {
    this.#client = client
  }

  noteIdle(session: string): void {
    for (const bell of this.#waiting.get(session) ?? []) bell.ring()
  }

  /** A deleted session may stay busy forever, and sends no idle event (1.18.34). */
  noteDeleted(session: string): void {
    for (const bell of this.#waiting.get(session) ?? []) {
      bell.isDeleted = true
      bell.ring()
    }
  }

  async prompt(session: string, text: string, manner: Manner, givesUp: () => boolean): Promise<TurnAnswer> {
    const before = (await readLastTurn(this.#client, session)).answer?.id
    const bell = this.#ring(session)
    try {
      await sendPrompt(this.#client, session, { ...manner, parts: [ownText(text)] })
      let idle = false
      let idleSince: number | undefined
      for (;;) {
        const rung = await bell.next(idle ? LOOK_SOON_MS : LOOK_AGAIN_MS)
        idle ||= rung
        if (bell.isDeleted) throw new HostRefusal(OPENCODE_TEXT.deleted(session), 'gone', session)
        if (givesUp()) {
          await this.#client.session.abort({ path: { id: session } })
          return { kind: 'given-up' }
        }
        // A session stays busy for a moment after its idle event (1.18.34).
        const isBusy = await this.#isBusy(session)
        if (isBusy && !idle) continue
        const { answer, ended, error } = await readLastTurn(this.#client, session)
        const isNew = answer !== undefined && answer.id !== before
        if (isNew && ended === 'well') return { kind: 'answered', text: answer.text }
        if (isBusy) {
          // The idle event belonged to an earlier turn.
          idle = false
          continue
        }
        if (isNew && ended === 'failed') return { kind: 'failed', why: error ?? OPENCODE_TEXT.notAnswered }
        idleSince ??= Date.now()
        if (Date.now() - idleSince > IDLE_LIMIT_MS) return { kind: 'failed', why: OPENCODE_TEXT.notAnswered }
      }
    } finally {
      bell.stop()
    }
  }

  async #isBusy(session: string): Promise<boolean> {
    const status = (await this.#client.session.status()).data?.[session]
    return status !== undefined && status.type !== 'idle'
  }

  #ring(session: string): Bell {
    let rung = false
    let wake = (): void => {}
    const bells = this.#waiting.get(session) ?? new Set()
    const bell: Bell = {
      isDeleted: false,
      ring: () => {
        rung = true
        wake()
      },
      next: (patienceMs) =>
        new Promise((resolve) => {
          const timer = setTimeout(() => wake(), rung ? 0 : patienceMs)
          wake = () => {
            clearTimeout(timer)
            wake = () => {}
            const wasRung = rung
            rung = false
            resolve(wasRung)
          }
        }),
      stop: () => {
        bells.delete(bell)
        if (bells.size === 0) this.#waiting.delete(session)
      },
    }
    bells.add(bell)
    this.#waiting.set(session, bells)
    return bell
  }
}
