import { MAIN_AGENT } from '../hosts/host.ts'
import type { HostEvent, StoppingOutput, ToolCall, ToolOutput } from '../hosts/opencode/api.ts'
import type { Turns } from '../hosts/opencode/turns.ts'
import type { Guard } from './guard/guard.ts'
import type { InLoopGuard } from './guard/in-loop.ts'
import type { IdleGuard, SubAgentGuard } from './guard/prompt-guards.ts'
import type { Agent, Sessions } from './sessions.ts'

/** The one place that knows the four ways to block an agent. */

export interface StopRouterParts {
  readonly sessions: Sessions
  readonly turns: Turns
  readonly guard: Guard
  readonly idle: IdleGuard
  readonly inLoop: InLoopGuard
  readonly subAgents: SubAgentGuard
  /** Whether the process ends at the first idle. */
  readonly oneShot: boolean
}

/** A model may send anything. */
function mayBeOurs(command: unknown): boolean {
  return typeof command === 'string' && command.includes('postflight')
}

export class StopRouter {
  readonly #parts: StopRouterParts
  readonly #background = new Set<string>()
  /** Whether this OpenCode asks before a session stops. */
  #asksBeforeStop = false

  constructor(parts: StopRouterParts) {
    this.#parts = parts
  }

  #isHeldInLoop(agent: Agent): boolean {
    if (this.#asksBeforeStop) return false
    return agent.agent === MAIN_AGENT ? this.#parts.oneShot : this.#background.has(agent.session)
  }

  async onEvent({ type, properties = {} }: HostEvent): Promise<void> {
    const { sessionID, info, part, error } = properties
    const { sessions, inLoop, subAgents } = this.#parts
    switch (type) {
      case 'session.created':
      case 'session.updated':
        if (info !== undefined) sessions.note(info)
        return
      case 'session.deleted':
        if (info !== undefined) this.#forget(info.id)
        return
      case 'message.part.updated':
        if (part?.type === 'tool' && part.tool === 'task') this.#noteBackground(part.state?.metadata)
        return
      case 'session.error':
        if (sessionID === undefined) return
        await inLoop.failed(sessionID)
        if (error?.name === 'MessageAbortedError') await subAgents.interrupted(sessionID)
        return
      case 'session.idle':
        if (sessionID !== undefined) await this.#onIdle(sessionID)
    }
  }

  async #onIdle(session: string): Promise<void> {
    const { sessions, turns, guard, inLoop, idle } = this.#parts
    turns.noteIdle(session)
    const agent = await sessions.identify(session)
    const wasHeldInLoop = this.#isHeldInLoop(agent)
    // A one-shot process is about to end: synchronous work first.
    if (wasHeldInLoop) await guard.stopped(agent)
    await inLoop.idle(session)
    if (agent.agent === MAIN_AGENT && !wasHeldInLoop && !this.#asksBeforeStop) await idle.answer(agent)
  }

  async onToolEnded({ tool, sessionID, args }: ToolCall, output: ToolOutput): Promise<void> {
    const { sessions, guard } = this.#parts
    if (tool === 'bash' && mayBeOurs(args?.command)) await guard.commandEnded(await sessions.identify(sessionID))
    const session = output.metadata?.sessionId
    if (tool !== 'task' || typeof session !== 'string') return
    this.#noteBackground(output.metadata)
    if (!this.#background.has(session)) await this.#parts.subAgents.taskEnded(session, output)
  }

  async onTextCompleted(session: string, messageId: string): Promise<void> {
    const agent = await this.#parts.sessions.identify(session)
    if (this.#isHeldInLoop(agent)) await this.#parts.inLoop.textCompleted(agent, messageId)
  }

  /** For a hook that is proposed upstream. */
  async onStopping(session: string, output: StoppingOutput): Promise<void> {
    const { sessions, guard, oneShot } = this.#parts
    this.#asksBeforeStop = true
    const agent = await sessions.identify(session)
    const isMain = agent.agent === MAIN_AGENT
    // Other sub-agents are blocked at the end of their `task`.
    if (!isMain && !this.#background.has(session)) return
    const { reason } = await guard.stop(agent, isMain && !oneShot ? await sessions.countBusyBelow(session) : 0)
    if (reason !== undefined) Object.assign(output, { stop: false, continue: true, message: reason })
  }

  #noteBackground(metadata: Readonly<Record<string, unknown>> | undefined): void {
    if (metadata?.background === true && typeof metadata.sessionId === 'string') {
      this.#background.add(metadata.sessionId)
    }
  }

  #forget(session: string): void {
    this.#parts.turns.noteDeleted(session)
    this.#parts.sessions.forget(session)
    this.#parts.idle.forget(session)
    this.#background.delete(session)
  }
}
