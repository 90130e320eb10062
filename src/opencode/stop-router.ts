import { MAIN_AGENT } from '../hosts/host.ts'
import type { HostEvent, StoppingOutput, ToolCall, ToolOutput } from '../hosts/opencode/api.ts'
import type { Turns } from '../hosts/opencode/turns.ts'
import type { Guard } from './guard/guard.ts'
import type { InLoopGuard } from './guard/in-loop.ts'
import type { IdleGuard, SubAgentGuard } from './guard/prompt-guards.ts'
import type { Agent, Sessions } from './sessions.ts'

/** Routes OpenCode's events and hooks to the guards: the one place that knows the four ways in which an agent is held. */

export interface StopRouterParts {
  readonly sessions: Sessions
  readonly turns: Turns
  readonly guard: Guard
  readonly idle: IdleGuard
  readonly inLoop: InLoopGuard
  readonly subAgents: SubAgentGuard
  /** True if the process ends when the main conversation is first idle. */
  readonly oneShot: boolean
}

/** True for a shell command that may be ours, such as `postflight wait`; a model may send anything as its text. */
function mayBeOurs(command: unknown): boolean {
  return typeof command === 'string' && command.includes('postflight')
}

export class StopRouter {
  readonly #parts: StopRouterParts
  /** Sub-agents whose caller does not wait for them. */
  readonly #background = new Set<string>()
  /** True once this OpenCode has asked before a session stops: then the other ways are not needed. */
  #asksBeforeStop = false

  constructor(parts: StopRouterParts) {
    this.#parts = parts
  }

  /** True for an agent that has to be held inside its loop: a prompt that is sent later would come too late. */
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
    // A one-shot process is about to end, so the synchronous work comes first.
    if (wasHeldInLoop) await guard.stopped(agent)
    await inLoop.idle(session)
    if (agent.agent === MAIN_AGENT && !wasHeldInLoop && !this.#asksBeforeStop) await idle.answer(agent)
  }

  /** Handles the end of a tool call. The output of a `task` waits until its sub-agent may stop. */
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

  /** Handles the hook of an OpenCode that asks before a session stops, as is proposed upstream. */
  async onStopping(session: string, output: StoppingOutput): Promise<void> {
    const { sessions, guard, oneShot } = this.#parts
    this.#asksBeforeStop = true
    const agent = await sessions.identify(session)
    const isMain = agent.agent === MAIN_AGENT
    // Any other sub-agent is held at the end of its `task`, where its caller waits.
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
