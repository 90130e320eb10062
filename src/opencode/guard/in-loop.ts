import { type HostClient, type Message, need } from '../../hosts/opencode/api.ts'
import {
  appendMessage,
  emptyMessage,
  type MessagePlace,
  mannerOf,
  ownText,
  removeMessage,
  rewriteMessage,
} from '../../hosts/opencode/conversation.ts'
import { OPENCODE_TEXT } from '../../hosts/opencode/opencode-messages.ts'
import type { Agent } from '../sessions.ts'
import type { Guard } from './guard.ts'

/**
 * Holds sessions inside their own loops, where a prompt on idle would come too late (`opencode run`, a background
 * sub-agent whose caller gets the result at once). When the model has finished a text, OpenCode 1.18.34 waits for this
 * plugin. A message that is added then is newer than the model's, so the loop goes on instead of ending.
 *
 * At that moment it is not known whether the model ends its turn: a tool call may follow the text. So the message is
 * provisional. A tool call withdraws it. Nothing is counted until the loop reaches the message, and the model sees it only
 * after it was counted on disk.
 */

interface Step {
  /** The number of tool calls of this step so far. */
  tools: number
  provisional: MessagePlace | undefined
}

export class InLoopGuard {
  readonly #client: HostClient
  readonly #guard: Guard
  readonly #steps = new Map<string, Step>()
  /** Emptied messages, which are removed when their session is idle. */
  readonly #leftovers = new Map<string, MessagePlace[]>()

  constructor(client: HostClient, guard: Guard) {
    this.#client = client
    this.#guard = guard
  }

  /** Handles the end of a text: adds a provisional message where a stop would be blocked. */
  async textCompleted(agent: Agent, messageId: string): Promise<void> {
    const { session } = agent
    const step = this.#stepOf(session)
    if (step.tools > 0 || step.provisional !== undefined) return
    const reason = await this.#guard.preview(agent)
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
    // The model's stream goes on while OpenCode waits for the plugin.
    if (step.tools > 0) await this.#withdraw(session, step)
  }

  async toolStarts(session: string): Promise<void> {
    const step = this.#stepOf(session)
    step.tools += 1
    await this.#withdraw(session, step)
  }

  /**
   * Handles the beginning of a step, with the messages of the next request. If the loop has reached the provisional
   * message, the continuation is counted now, and the message shows that count.
   */
  async stepBegins(agent: Agent, messages: readonly Message[]): Promise<void> {
    const { session } = agent
    const step = this.#stepOf(session)
    const { provisional } = step
    const asked = messages.findLast(({ info }) => info.role === 'user')
    // A compaction's request: the step that it makes room for comes later.
    if (asked === undefined || asked.parts.some(({ type }) => type === 'compaction')) return
    this.#steps.set(session, { tools: 0, provisional: undefined })
    if (provisional === undefined) return
    // Another message came after it (a compaction continues with its own message): the next stop is judged again.
    if (asked.info.id !== provisional.message) return this.#withdraw(session, step)
    const text = (await this.#guard.stop(agent, 0)).reason ?? OPENCODE_TEXT.settled
    const part = asked.parts.find((one) => one.type === 'text')
    if (part === undefined || part.text === text) return
    part.text = text
    await rewriteMessage(this.#client, provisional, text)
  }

  /** Handles an error or an interruption: a message that the loop has not reached must not start the next turn. */
  async failed(session: string): Promise<void> {
    await this.#withdraw(session, this.#stepOf(session))
  }

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
      // The message stays, so the loop will reach it, and it is counted as any other.
      step.provisional = provisional
      throw error
    }
    this.#leftovers.set(session, [...(this.#leftovers.get(session) ?? []), provisional])
  }

  async #read(session: string, messageID: string): Promise<Message> {
    return need(await this.#client.session.message({ path: { id: session, messageID } }), 'session.message', session)
  }
}
