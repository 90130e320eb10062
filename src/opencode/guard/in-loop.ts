import { type HostClient, type Message, need } from '../../hosts/opencode/api.ts'
import {
  appendMessage,
  emptyMessage,
  type MessageLocation,
  mannerOf,
  ownText,
  removeMessage,
  rewriteMessage,
} from '../../hosts/opencode/conversation.ts'
import type { Agent } from '../sessions.ts'
import type { Guard } from './guard.ts'

/**
 * Blocks agents that a prompt on idle would reach too late (`opencode run`, a background sub-agent): OpenCode 1.18.34
 * waits for this plugin after a text, and a message added then continues the loop. A tool call may still follow, which
 * withdraws it.
 */

interface Step {
  tools: number
  provisional: MessageLocation | undefined
  /** Whether the next request is a compaction's, which ends with the last message of the conversation (1.18.34). */
  isCompacting: boolean
  /** A stop was allowed although a block had been predicted (a full disk): the next prediction would be the same. */
  wasAllowed: boolean
}

export class InLoopGuard {
  readonly #client: HostClient
  readonly #guard: Guard
  readonly #steps = new Map<string, Step>()
  readonly #leftovers = new Map<string, MessageLocation[]>()

  constructor(client: HostClient, guard: Guard) {
    this.#client = client
    this.#guard = guard
  }

  async textCompleted(agent: Agent, messageId: string): Promise<void> {
    const { session } = agent
    const step = this.#stepOf(session)
    if (step.tools > 0 || step.provisional !== undefined || step.wasAllowed) return
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
    // OpenCode waits for the plugin, but the model's stream continues.
    if (step.tools > 0) await this.#withdraw(session, step)
  }

  compacts(session: string): void {
    this.#stepOf(session).isCompacting = true
  }

  async toolStarts(session: string): Promise<void> {
    const step = this.#stepOf(session)
    step.tools += 1
    await this.#withdraw(session, step)
  }

  /** Counts the continuation before the model sees it. */
  async stepBegins(agent: Agent, messages: readonly Message[]): Promise<void> {
    const { session } = agent
    const step = this.#stepOf(session)
    const { provisional } = step
    const asked = messages.findLast(({ info }) => info.role === 'user')
    if (step.isCompacting || asked === undefined) {
      step.isCompacting = false
      return
    }
    const next: Step = { ...step, tools: 0, provisional: undefined }
    this.#steps.set(session, next)
    if (provisional === undefined) return
    // A compaction adds its own message: the next stop is judged again.
    if (asked.info.id !== provisional.message) return this.#withdraw(session, step)
    const { reason } = await this.#guard.stop(agent, 0)
    next.wasAllowed = reason === undefined
    const text = reason ?? 'This stop is not blocked after all. Repeat your last message, then end your turn.'
    const part = asked.parts.find((one) => one.type === 'text')
    if (part === undefined || part.text === text) return
    part.text = text
    await rewriteMessage(this.#client, provisional, text)
  }

  /** The message must not start the next turn. */
  async failed(session: string): Promise<void> {
    const step = this.#steps.get(session)
    if (step !== undefined) await this.#withdraw(session, step)
  }

  async idle(session: string): Promise<void> {
    await this.failed(session)
    const leftovers = this.#leftovers.get(session) ?? []
    this.forget(session)
    for (const location of leftovers) await removeMessage(this.#client, location)
  }

  forget(session: string): void {
    this.#steps.delete(session)
    this.#leftovers.delete(session)
  }

  #stepOf(session: string): Step {
    const step = this.#steps.get(session) ?? {
      tools: 0,
      provisional: undefined,
      isCompacting: false,
      wasAllowed: false,
    }
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
      // The loop will reach it and count it.
      step.provisional = provisional
      throw error
    }
    this.#leftovers.set(session, [...(this.#leftovers.get(session) ?? []), provisional])
  }

  async #read(session: string, messageID: string): Promise<Message> {
    return need(await this.#client.session.message({ path: { id: session, messageID } }), 'session.message', session)
  }
}
