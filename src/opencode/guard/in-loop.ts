import type { HostClient, Message } from '../host/api.ts'
import {
  appendMessage,
  emptyMessage,
  type MessagePlace,
  mannerOf,
  need,
  ownText,
  removeMessage,
  rewriteMessage,
} from '../host/conversation.ts'
import { OPENCODE_TEXT } from '../messages.ts'
import type { Agent } from '../sessions.ts'
import type { Guard } from './guard.ts'

/**
 * A session that is held inside its own loop, for where a prompt on idle would come too late (`opencode run`, a
 * background sub-agent whose caller is told at once). When the model has finished a text, OpenCode 1.18.33 waits for
 * this plugin; a message that is put there then is newer than the model's, so the loop goes on instead of ending.
 *
 * Whether the model ends its turn is not known at that moment: a tool call may follow the text. So the message is
 * provisional. A tool call withdraws it; nothing is counted until the loop has come round to it, and only what was
 * counted on disk reaches the model.
 */

/** A session's current step. */
interface Step {
  /** Tool calls of this step so far. */
  tools: number
  provisional: MessagePlace | undefined
}

/** Holds sessions in their loops. */
export class InLoopGuard {
  readonly #client: HostClient
  readonly #guard: Guard
  readonly #steps = new Map<string, Step>()
  /** Emptied messages, which can be removed when their session is idle. */
  readonly #leftovers = new Map<string, MessagePlace[]>()

  constructor(client: HostClient, guard: Guard) {
    this.#client = client
    this.#guard = guard
  }

  /** The model has finished a text. */
  async textCompleted(agent: Agent, messageId: string): Promise<void> {
    const { session } = agent
    const step = this.#stepOf(session)
    if (step.tools > 0 || step.provisional !== undefined) return
    const reason = this.#guard.preview(agent)
    if (reason === undefined) return
    const said = await this.#read(session, messageId)
    if (said.info.role !== 'assistant' || said.info.summary === true) return
    const asked = await this.#read(session, said.info.parentID)
    if (asked.info.role !== 'user') return
    const { format } = asked.info
    step.provisional = await appendMessage(this.#client, session, {
      ...mannerOf(asked.info),
      ...(format !== undefined && { format }),
      parts: [ownText(reason)],
    })
    // The model's stream runs on while OpenCode waits for us.
    if (step.tools > 0) await this.#withdraw(session, step)
  }

  /** A tool is about to run. */
  async toolStarts(session: string): Promise<void> {
    const step = this.#stepOf(session)
    step.tools += 1
    await this.#withdraw(session, step)
  }

  /**
   * The messages of the next request are there: a step begins. If the loop has come round to a message of ours, the
   * continuation is counted now, and the message says what was counted.
   */
  async stepBegins(agent: Agent, messages: readonly Message[]): Promise<void> {
    const { session } = agent
    const step = this.#stepOf(session)
    const { provisional } = step
    const asked = messages.findLast(({ info }) => info.role === 'user')
    // A compaction's request: the step that it makes room for is yet to come.
    if (asked === undefined || asked.parts.some(({ type }) => type === 'compaction')) return
    this.#steps.set(session, { tools: 0, provisional: undefined })
    if (provisional === undefined) return
    // Something else came after it (a compaction goes on by a message of its own): the next stop is asked about anew.
    if (asked.info.id !== provisional.message) return this.#withdraw(session, step)
    const text = this.#guard.stop(agent, 0).reason ?? OPENCODE_TEXT.settled
    const part = asked.parts.find((one) => one.type === 'text')
    if (part === undefined || part.text === text) return
    part.text = text
    await rewriteMessage(this.#client, provisional, text)
  }

  /** The turn ended by an error or an interruption: a message that nobody has come round to must not start the next. */
  async failed(session: string): Promise<void> {
    await this.#withdraw(session, this.#stepOf(session))
  }

  /** The session is idle. */
  async idle(session: string): Promise<void> {
    await this.failed(session)
    this.#steps.delete(session)
    const leftovers = this.#leftovers.get(session) ?? []
    this.#leftovers.delete(session)
    for (const place of leftovers) await removeMessage(this.#client, place)
  }

  #stepOf(session: string): Step {
    const step = this.#steps.get(session) ?? { tools: 0, provisional: undefined }
    this.#steps.set(session, step)
    return step
  }

  async #withdraw(session: string, step: Step): Promise<void> {
    const { provisional } = step
    if (provisional === undefined) return
    step.provisional = undefined
    try {
      await emptyMessage(this.#client, provisional)
    } catch (error) {
      // It stays, so the loop will come round to it: then it is counted like any other.
      step.provisional = provisional
      throw error
    }
    this.#leftovers.set(session, [...(this.#leftovers.get(session) ?? []), provisional])
  }

  async #read(session: string, messageID: string): Promise<Message> {
    return need(await this.#client.session.message({ path: { id: session, messageID } }), 'session.message')
  }
}
