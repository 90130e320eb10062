import type { HostClient, HostEvent, ModelName, Part, UserMessage } from '../hosts/opencode/api.ts'
import { knownModel, modelName } from '../hosts/opencode/catalogue.ts'
import { readLastMessages, sendPrompt } from '../hosts/opencode/conversation.ts'
import { PRODUCT } from '../hosts/opencode/opencode-messages.ts'
import { oneLine } from '../kernel/text.ts'
import type { KnownSessions } from './factory.ts'
import type { Reporter } from './reporter.ts'

/**
 * Switches a conversation to the next model of its agent's chain: the waiting turn is aborted, and the message that it
 * answered is sent again. Only where the process outlives the abort (`opencode serve`, the terminal interface).
 */

/** The words of providers, and of OpenCode's own summaries. */
const WORDS: readonly RegExp[] = [
  /\b429\b/,
  /rate[- _]?limit/i,
  /too[ _]many[ _]requests/i,
  /\b(?:usage|request|token|quota) limit/i,
  /quota (?:exceeded|exhausted|reached)|(?:exceeded|out of|insufficient)[ _](?:your |the )?(?:current )?quota/i,
  /resource[ _]?(?:has been )?exhausted/i,
  /rate increased too quickly|throttl/i,
  /overloaded/i,
]

/** The status of an answer that says the same without words. */
export const TOO_MANY_REQUESTS = 429

export type RateLimitTest = (text: string | undefined) => boolean

/** The test of a text. `further`: regular expressions of the user. */
export function rateLimitTest(further: readonly string[]): RateLimitTest {
  const patterns = [...WORDS, ...further.map((one) => new RegExp(one, 'i'))]
  return (text) => text !== undefined && patterns.some((pattern) => pattern.test(text))
}

/** How an event reports a rate limit: OpenCode will try again, or it gave up. Undefined for any other event. */
export function rateLimitIn(
  { type, properties = {} }: HostEvent,
  isRateLimit: RateLimitTest,
): 'retrying' | 'failed' | undefined {
  const { status, error } = properties
  if (type === 'session.status' && status?.type === 'retry' && isRateLimit(status.message)) return 'retrying'
  // OpenCode compacts the conversation then, and goes on. Some providers speak of a token limit.
  if (type !== 'session.error' || error?.name === 'ContextOverflowError') return undefined
  return error?.data?.statusCode === TOO_MANY_REQUESTS || isRateLimit(error?.data?.message) ? 'failed' : undefined
}

const named = (model: string): string => oneLine(model, 120)

/** The foreground fallback's sentences for the user. */
export const FALLBACK_TEXT = {
  switched: (from: string, to: string): string =>
    `${PRODUCT}: ${named(from)} is rate-limited, so the last message was sent again with ${named(to)}.`,
  replaced: (from: string, to: string): string =>
    `${PRODUCT}: ${named(from)} is rate-limited, so ${named(to)} answers in its place.`,
  unknown: (model: string): string =>
    `${PRODUCT}: OpenCode has no model ${named(model)}, so the fallback leaves it out.`,
  exhausted: (tried: readonly string[]): string =>
    `${PRODUCT}: no model of the chain is left (${tried.map(named).join(', ')}). OpenCode repeats the request a few times more.`,
  /** `left`: the models of the chain that were not tried. */
  cannotSwitch: (left: readonly string[]): string =>
    `${PRODUCT}: the model is rate-limited, and \`opencode run\` can switch only to a model of the same provider, which your configuration describes (npm or options.apiKey). Not tried: ${left.map(named).join(', ')}.`,
} as const

/** The time (ms) in which the signs of one rate limit are counted once: OpenCode reports it in several events. */
const SAME_LIMIT_MS = 5_000

/** The time (ms) that an aborted turn may take to end, and the time between two looks. */
const ABORT_LIMIT_MS = 10_000
const LOOK_AGAIN_MS = 50

/** The parts of a message that can be sent again. */
const SENDABLE = ['text', 'file', 'agent', 'subtask']

interface Conversation {
  /** The models that this message was sent to. */
  readonly tried: Set<string>
  /** When the last limit was handled (ms since the epoch). */
  handledMs: number
  /** True from the first sign of a limit until the message is sent again. */
  isSwitching: boolean
  /** True while the next message of the conversation is the one that is sent again. */
  isResending: boolean
  /** True once the chain has ended for this message: the user interrupted it, or no model is left. */
  isOver: boolean
}

interface SwitchPorts {
  readonly client: HostClient
  readonly reporter: Reporter
  readonly sessions: KnownSessions
  readonly chains: Readonly<Record<string, readonly string[]>>
  readonly isRateLimit: RateLimitTest
}

export class ModelSwitch {
  readonly #ports: SwitchPorts
  readonly #conversations = new Map<string, Conversation>()

  constructor(ports: SwitchPorts) {
    this.#ports = ports
  }

  /** Notes a message: a new one may try every model again, a repeated one goes on with the chain. */
  noteMessage({ sessionID, model }: UserMessage): void {
    const known = this.#conversations.get(sessionID)
    if (known?.isResending === true) {
      known.isResending = false
      return
    }
    this.#conversations.set(sessionID, {
      tried: new Set([modelName(model)]),
      handledMs: 0,
      isSwitching: false,
      isResending: false,
      isOver: false,
    })
  }

  forget(session: string): void {
    this.#conversations.delete(session)
  }

  /** Handles an event: the sign of a rate limit, or the user's interruption. */
  async onEvent(event: HostEvent): Promise<void> {
    const { sessionID = '', error } = event.properties ?? {}
    const conversation = this.#conversations.get(sessionID)
    if (conversation === undefined) return
    const { isSwitching, isResending } = conversation
    if (event.type === 'session.error' && error?.name === 'MessageAbortedError') {
      // Our own abort may have this event too.
      if (!isSwitching && !isResending) conversation.isOver = true
      return
    }
    const limit = rateLimitIn(event, this.#ports.isRateLimit)
    if (limit === undefined || isSwitching || conversation.isOver) return
    if (isResending && Date.now() - conversation.handledMs < SAME_LIMIT_MS) return
    conversation.isSwitching = true
    try {
      await this.#switch(sessionID, conversation, limit)
    } finally {
      conversation.isSwitching = false
    }
  }

  async #switch(session: string, conversation: Conversation, limit: 'retrying' | 'failed'): Promise<void> {
    const { client, sessions, chains, reporter } = this.#ports
    const chain = chains[sessions.agentOf(session) ?? '']
    if (chain === undefined || !(await sessions.isMain(session))) return
    const { asked } = await readLastMessages(client, session)
    const parts = sendableParts(asked?.parts ?? [])
    // A compaction is a message without text: OpenCode makes it and goes on with it.
    if (asked?.info.role !== 'user' || parts.length === 0) return
    const model = await this.#nextModel(chain, conversation.tried)
    if (model === undefined) {
      conversation.isOver = true
      return reporter.notice(FALLBACK_TEXT.exhausted([...conversation.tried]))
    }
    const { info } = asked
    const wasBusy = await this.#interrupt(session)
    if (limit === 'retrying' && !wasBusy) {
      // The user interrupted the turn. While it waits for its next try, 1.18.34 sends no error event for that.
      conversation.isOver = true
      return
    }
    conversation.handledMs = Date.now()
    conversation.isResending = true
    const { agent, system, tools, format } = info
    try {
      await sendPrompt(client, session, {
        agent,
        model,
        ...(system !== undefined && { system }),
        ...(tools !== undefined && { tools }),
        ...(format !== undefined && { format }),
        parts,
      })
    } catch (error) {
      conversation.isResending = false
      throw error
    }
    reporter.notice(FALLBACK_TEXT.switched(modelName(info.model), modelName(model)))
  }

  /** The next model of a chain that OpenCode has: another one would leave the message without an answer. */
  async #nextModel(chain: readonly string[], tried: Set<string>): Promise<ModelName | undefined> {
    for (const name of chain) {
      if (tried.has(name)) continue
      tried.add(name)
      const model = await knownModel(this.#ports.client, name)
      if (model !== undefined) return model
      this.#ports.reporter.notice(FALLBACK_TEXT.unknown(name))
    }
    return undefined
  }

  /** Aborts the turn that waits for its next try, and waits until the session is idle. False if it is idle already. */
  async #interrupt(session: string): Promise<boolean> {
    const { client } = this.#ports
    const isBusy = async (): Promise<boolean> =>
      ((await client.session.status()).data?.[session]?.type ?? 'idle') !== 'idle'
    if (!(await isBusy())) return false
    await client.session.abort({ path: { id: session } })
    const deadline = Date.now() + ABORT_LIMIT_MS
    while (Date.now() < deadline && (await isBusy())) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
    }
    return true
  }
}

/**
 * The parts as a new message has them: with all their fields, our tag among them, and without the ids of their old
 * place. OpenCode will again add its own parts to a message of the user (the text of a file).
 */
function sendableParts(parts: readonly Part[]): Part[] {
  const sent = parts.filter(({ type }) => SENDABLE.includes(type))
  const given = sent.filter(({ synthetic, metadata }) => synthetic !== true || metadata !== undefined)
  return (given.length > 0 ? given : sent).map((part) => {
    const { id: _id, messageID: _message, sessionID: _session, ...rest } = part as Part & Record<string, unknown>
    return rest as unknown as Part
  })
}
