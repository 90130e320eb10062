import path from 'node:path'
import { MAIN_AGENT } from '../core/marker.ts'
import { findCommandForm } from '../io/command-form.ts'
import { actingIn, isActing, leave, takeOver } from './acting.ts'
import { Guard } from './guard/guard.ts'
import { IdleGuard } from './guard/idle.ts'
import { InLoopGuard } from './guard/in-loop.ts'
import { SubAgentGuard } from './guard/sub-agent.ts'
import type { Hooks, HostEvent, PluginInput, StoppingOutput } from './host/api.ts'
import { isOneShot } from './host/one-shot.ts'
import { Turns } from './host/turns.ts'
import { type Agent, Sessions } from './sessions.ts'
import { tellShell } from './shell-environment.ts'
import { createReporter, shield } from './shield.ts'
import { WorkflowDriver } from './workflow/driver.ts'
import {
  addWorkflowCommand,
  runWorkflowCommand,
  WORKFLOW_COMMAND,
  WORKFLOW_TOOL,
  workflowTool,
} from './workflow/entry-points.ts'
import { IdleRuns } from './workflow/idle-runs.ts'

/** The plugin of one project folder: OpenCode's hooks, each handed to whoever answers it. */

/** How long (ms) the end of OpenCode waits for what its last events began. */
const DISPOSE_PATIENCE_MS = 1_000

/** Makes the hooks. OpenCode calls this once for each project folder. */
export async function server({ client, directory }: PluginInput): Promise<Hooks> {
  if (process.env.POSTFLIGHT_DISABLE === '1') return {}
  const sessions = new Sessions(client)
  const oneShot = isOneShot(process.argv)
  const reporter = createReporter(client, () => guard.rootsFor(undefined), oneShot)
  const driven = new Set<string>()
  const guard = new Guard(
    {
      folder: directory,
      environment: process.env,
      findForm: () => findCommandForm(process.env, path.join(import.meta.dirname, '..', '..', 'bin', 'postflight.js')),
    },
    sessions,
    reporter,
    new IdleRuns(driven),
  )
  const turns = new Turns(client)
  const idle = new IdleGuard(client, sessions, guard)
  const inLoop = new InLoopGuard(client, guard)
  const subAgents = new SubAgentGuard(client, sessions, guard, turns)
  const driver = new WorkflowDriver({
    client,
    sessions,
    turns,
    subAgents,
    reporter,
    folder: directory,
    findRoot: () => guard.rootsFor(undefined)[0],
    driven,
  })
  const instance = { driver }
  takeOver(directory, instance)
  /** Sub-agents whose caller does not wait for them. */
  const background = new Set<string>()
  /** Set when this OpenCode asks before a session stops: then nothing else has to. */
  let asksBeforeStop = false

  const isHeldInLoop = (agent: Agent): boolean =>
    !asksBeforeStop && (agent.agent === MAIN_AGENT ? oneShot : background.has(agent.session))

  const safely = <A extends unknown[]>(where: string, hook: (...words: A) => Promise<void> | void) =>
    shield(where, reporter, () => isActing(directory, instance), hook)

  const stopping = safely('session.stopping', async (input: { sessionID: string }, output: StoppingOutput) => {
    asksBeforeStop = true
    const agent = await sessions.identify(input.sessionID)
    // Its caller's tool call is held instead.
    if (agent.agent !== MAIN_AGENT && !background.has(agent.session)) return
    const { reason } = guard.stop(agent, 0)
    if (reason === undefined) return
    Object.assign(output, { stop: false, continue: true, message: reason })
  })

  const onEvent = async ({ type, properties = {} }: HostEvent): Promise<void> => {
    const { sessionID, info, part, error } = properties
    if ((type === 'session.created' || type === 'session.updated') && info !== undefined) sessions.note(info)
    if (type === 'session.deleted' && info !== undefined) {
      sessions.forget(info.id)
      idle.forget(info.id)
      background.delete(info.id)
    }
    if (type === 'message.part.updated' && part?.type === 'tool' && part.tool === 'task') {
      noteBackground(part.state?.metadata)
    }
    if (sessionID === undefined) return
    if (type === 'session.error') {
      await inLoop.failed(sessionID)
      if (error?.name === 'MessageAbortedError') await subAgents.interrupted(sessionID)
    }
    if (type === 'session.idle') {
      turns.noteIdle(sessionID)
      const agent = await sessions.identify(sessionID)
      if (isHeldInLoop(agent)) {
        // Nobody waits for an event's handler, and a one-shot process is about to end: first what needs no waiting.
        guard.stopped(agent)
        await inLoop.idle(sessionID)
      } else if (agent.agent === MAIN_AGENT && !asksBeforeStop) await idle.answer(agent)
    }
  }

  const noteBackground = (metadata: Readonly<Record<string, unknown>> | undefined): void => {
    if (metadata?.background === true && typeof metadata.sessionId === 'string') background.add(metadata.sessionId)
  }

  const answerEvent = safely('event', onEvent)
  /** Events that are being answered: OpenCode waits for none, but before it ends it waits for `dispose`. */
  const answering = new Set<Promise<void>>()

  return {
    event({ event }) {
      const answer = answerEvent(event).finally(() => answering.delete(answer))
      answering.add(answer)
      return answer
    },
    config: safely('config', addWorkflowCommand),
    // Not `safely`: the tool of an instance that was superseded hands the call on.
    tool: {
      [WORKFLOW_TOOL]: workflowTool(() => (actingIn(directory) as typeof instance | undefined)?.driver ?? driver),
    },
    'command.execute.before': safely('command.execute.before', async (input, { parts }) => {
      if (input.command === WORKFLOW_COMMAND) await runWorkflowCommand(driver, input.sessionID, input.arguments, parts)
    }),
    'chat.message': safely('chat.message', (_input, { message }) => {
      sessions.noteType(message.sessionID, message.agent)
    }),
    'shell.env': safely('shell.env', async ({ sessionID, cwd }, { env }) => {
      if (sessionID === undefined) return
      const agent = await sessions.identify(sessionID)
      sessions.noteFolder(agent.root, cwd)
      tellShell(env, agent)
    }),
    'tool.execute.before': safely('tool.execute.before', ({ sessionID }) => inLoop.toolStarts(sessionID)),
    'tool.execute.after': safely('tool.execute.after', async ({ tool }, output) => {
      const session = output.metadata?.sessionId
      if (tool !== 'task' || typeof session !== 'string') return
      noteBackground(output.metadata)
      if (output.metadata?.background !== true) await subAgents.taskEnded(session, output)
    }),
    'experimental.text.complete': safely('experimental.text.complete', async ({ sessionID, messageID }) => {
      const agent = await sessions.identify(sessionID)
      if (isHeldInLoop(agent)) await inLoop.textCompleted(agent, messageID)
    }),
    'experimental.chat.messages.transform': safely('experimental.chat.messages.transform', async (_input, output) => {
      const session = output.messages.at(-1)?.info.sessionID
      if (session !== undefined) await inLoop.stepBegins(await sessions.identify(session), output.messages)
    }),
    'session.stopping': stopping,
    'experimental.session.stopping': stopping,
    dispose: async () => {
      await Promise.race([Promise.all(answering), new Promise((resolve) => setTimeout(resolve, DISPOSE_PATIENCE_MS))])
      leave(directory, instance)
    },
  }
}
