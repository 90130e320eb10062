import { type HostClient, type Message, need } from '../../hosts/opencode/api.ts'
import * as conversation from '../../hosts/opencode/conversation.ts'
import { type Agent, type Sessions, Step } from '../sessions.ts'
import type { Guard } from './guard.ts'

/**
 * Blocks agents that a prompt on idle would reach too late (`opencode run`, a background sub-agent): OpenCode 1.18.34
 * waits for this plugin after a text, and a message added then continues the loop. A tool call may still follow, which
 * withdraws it.
 */

export function createInLoopGuard(client: HostClient, sessions: Sessions, guard: Guard) {
  async function textCompleted(agent: Agent, messageId: string): Promise<void> {
    const { session } = agent
    const step = stepOf(session)
    if (step.tools > 0 || step.provisional !== undefined || step.wasAllowed) return
    const reason = await guard.preview(agent)
    if (reason === undefined) return
    const said = await read(session, messageId)
    if (said.info.role !== 'assistant' || said.info.summary === true) return
    const asked = await read(session, said.info.parentID)
    if (asked.info.role !== 'user') return
    const { format } = asked.info
    step.provisional = await conversation.appendMessage(client, session, {
      ...conversation.mannerOf(asked.info),
      ...(format !== undefined && { format }),
      parts: [conversation.ownText(reason)],
    })
    // OpenCode waits for the plugin, but the model's stream continues.
    if (step.tools > 0) await withdraw(step)
  }

  function compacts(session: string): void {
    stepOf(session).isCompacting = true
  }

  async function toolStarts(session: string): Promise<void> {
    const step = stepOf(session)
    step.tools += 1
    await withdraw(step)
  }

  /** Counts the continuation before the model sees it. */
  async function stepBegins(agent: Agent, messages: readonly Message[]): Promise<void> {
    const { session } = agent
    const step = stepOf(session)
    const { provisional } = step
    const asked = messages.findLast(({ info }) => info.role === 'user')
    if (step.isCompacting || asked === undefined) {
      step.isCompacting = false
      return
    }
    const next: Step = { ...step, tools: 0, provisional: undefined }
    sessions.of(session).step = next
    if (provisional === undefined) return
    // A compaction adds its own message: the next stop is judged again.
    if (asked.info.id !== provisional.message) return withdraw(step)
    const { reason } = await guard.stop(agent, 0)
    next.wasAllowed = reason === undefined
    const text = reason ?? 'This stop is not blocked after all. Repeat your last message, then end your turn.'
    const part = asked.parts.find((one) => one.type === 'text')
    if (part === undefined || part.text === text) return
    part.text = text
    await conversation.rewriteMessage(client, provisional, text)
  }

  /** The message must not start the next turn. */
  async function failed(session: string): Promise<void> {
    const { step } = sessions.of(session)
    if (step !== undefined) await withdraw(step)
  }

  async function idle(session: string): Promise<void> {
    await failed(session)
    const facts = sessions.of(session)
    const { withdrawn = [] } = facts.step ?? {}
    facts.step = undefined
    for (const location of withdrawn) await conversation.removeMessage(client, location)
  }

  function stepOf(session: string): Step {
    const facts = sessions.of(session)
    facts.step ??= new Step()
    return facts.step
  }

  async function withdraw(step: Step): Promise<void> {
    const { provisional } = step
    if (provisional === undefined) return
    step.provisional = undefined
    try {
      await conversation.emptyMessage(client, provisional)
    } catch (error) {
      // The loop will reach it and count it.
      step.provisional = provisional
      throw error
    }
    // The session may have become idle meanwhile, which ends a step.
    stepOf(provisional.session).withdrawn.push(provisional)
  }

  async function read(session: string, messageID: string): Promise<Message> {
    return need(await client.session.message({ path: { id: session, messageID } }), 'session.message', session)
  }

  return { textCompleted, compacts, toolStarts, stepBegins, failed, idle }
}
