import path from 'node:path'
import { sleep } from '../disk/age.ts'
import * as api from '../hosts/opencode/api.ts'
import { isNotice, isOwnMessage } from '../hosts/opencode/conversation.ts'
import { MAIN_AGENT } from '../hosts/payload.ts'
import { COMMAND_SENTENCES } from '../kernel/command-errors.ts'
import { addSentences } from '../kernel/errors.ts'
import { composeHooks, createReporter, onGlobal, safeHooks } from '../opencode-hooks/factory.ts'
import { findCommandForm } from '../project/root.ts'
import { createGuard, type Guard } from './guard/guard.ts'
import { createInLoopGuard } from './guard/in-loop.ts'
import { createIdleGuard, createSubAgentGuard } from './guard/prompt-guards.ts'
import { type Agent, Sessions, tellShell } from './sessions.ts'
import { DrivenRuns } from './workflow/driven-runs.ts'
import type { WorkflowDriver } from './workflow/driver.ts'
import { addWorkflowCommand, createDriver, runWorkflowCommand, workflowTool } from './workflow/driver.ts'
import { createIdleRuns } from './workflow/idle-runs.ts'
import type { PhasePorts } from './workflow/phase-runner.ts'

/** The one place that knows the four ways to block an agent. */

function createStopRouter({ client, sessions, guard, subAgents }: PhasePorts & { readonly guard: Guard }) {
  const answerIdle = createIdleGuard(client, sessions, guard)
  const inLoop = createInLoopGuard(client, sessions, guard)
  const oneShot = api.isOneShot(process.argv)
  let asksBeforeStop = false

  function isHeldInLoop(agent: Agent): boolean {
    if (asksBeforeStop) return false
    return agent.agent === MAIN_AGENT ? oneShot : sessions.of(agent.session).isBackground === true
  }

  async function onEvent({ event }: { readonly event: api.HostEvent }): Promise<void> {
    const { type, properties: { sessionID, part } = {} } = event
    sessions.noteEvent(event)
    if (type === 'message.part.updated' && part?.type === 'tool' && part.tool === 'task') {
      noteBackground(part.state?.metadata)
    }
    const interrupted = api.interruptedIn(event)
    if (interrupted !== undefined) sessions.interruptBelow(interrupted)
    if (sessionID === undefined) return
    if (type === 'session.error') await inLoop.failed(sessionID)
    if (type === 'session.idle') await onIdle(sessionID)
  }

  async function onIdle(session: string): Promise<void> {
    sessions.ring(session)
    const agent = await sessions.identify(session)
    const wasHeldInLoop = isHeldInLoop(agent)
    // A one-shot process is about to end: synchronous work first.
    if (wasHeldInLoop) await guard.stopped(agent)
    await inLoop.idle(session)
    if (agent.agent === MAIN_AGENT && !wasHeldInLoop && !asksBeforeStop) await answerIdle(agent)
  }

  async function onToolEnded({ tool, sessionID, args }: api.ToolCall, output: api.ToolOutput): Promise<void> {
    const isOurs = tool === 'bash' && String(args?.command).includes('postflight')
    if (isOurs) await guard.commandEnded(await sessions.identify(sessionID))
    const session = output.metadata?.sessionId
    if (tool !== 'task' || typeof session !== 'string') return
    noteBackground(output.metadata)
    if (!sessions.of(session).isBackground) await subAgents.taskEnded(session, output)
  }

  /** For a hook that has been proposed to OpenCode. */
  async function onStopping({ sessionID }: { readonly sessionID: string }, output: api.StoppingOutput): Promise<void> {
    asksBeforeStop = true
    const agent = await sessions.identify(sessionID)
    const isMain = agent.agent === MAIN_AGENT
    // Other sub-agents are blocked at the end of their `task`.
    if (!isMain && !sessions.of(sessionID).isBackground) return
    const { reason } = await guard.stop(agent, isMain && !oneShot ? await sessions.countBusyBelow(sessionID) : 0)
    if (reason !== undefined) Object.assign(output, { stop: false, continue: true, message: reason })
  }

  function noteBackground(metadata: Readonly<Record<string, unknown>> | undefined): void {
    if (metadata?.background === true && typeof metadata.sessionId === 'string') {
      sessions.of(metadata.sessionId).isBackground = true
    }
  }

  return {
    event: onEvent,
    'tool.execute.before': ({ sessionID }) => inLoop.toolStarts(sessionID),
    'tool.execute.after': onToolEnded,
    async 'experimental.text.complete'({ sessionID, messageID }) {
      const agent = await sessions.identify(sessionID)
      if (isHeldInLoop(agent)) await inLoop.textCompleted(agent, messageID)
    },
    async 'experimental.chat.messages.transform'(_input, { messages }) {
      const asked = sessions.noteAgent(messages)
      if (asked !== undefined) await inLoop.stepBegins(await sessions.identify(asked.sessionID), messages)
    },
    async 'experimental.session.compacting'({ sessionID }) {
      inLoop.compacts(sessionID)
    },
    'session.stopping': onStopping,
    'experimental.session.stopping': onStopping,
  } satisfies api.Hooks
}

const DISPOSE_PATIENCE_MS = 1_000

const PACKAGE = path.join(import.meta.dirname, '..', '..')
const CLI = path.join(PACKAGE, 'bin', 'postflight.js')

/** OpenCode calls this once per project folder. */
export async function server(
  { client, directory }: api.PluginInput,
  given?: Readonly<Record<string, unknown>>,
): Promise<api.PluginHooks> {
  const environment = process.env
  if (environment.POSTFLIGHT_DISABLE === '1') return {}
  addSentences(COMMAND_SENTENCES)

  // zod writes to the global object when loaded.
  const { readOptions } = await import('./options.ts')
  const options = readOptions(given)
  const driven = new DrivenRuns(environment)
  const sessions = new Sessions(client)
  const reporter = createReporter(client, () => guard.rootsFor(undefined))
  const findForm = () => findCommandForm(environment, CLI, directory)
  const finds = { findForm, findsMarkers: options.guard, findsRuns: options.workflow }
  const guard = createGuard({ folder: directory, environment, ...finds }, sessions, reporter, createIdleRuns(driven))
  const ports = { client, sessions, subAgents: createSubAgentGuard(client, sessions, guard) }
  const folders = { folder: directory, packageFolder: PACKAGE, findRoots: guard.rootsFor }
  const driver = createDriver({ ...ports, ...folders, reporter, driven })

  // Only the newest instance acts: OpenCode loads a plugin twice if it is listed under two names (the same file once,
  // 1.18.34), and again after a folder was disposed.
  const acting = onGlobal('acting', () => new Map<string, WorkflowDriver>()).set(directory, driver)
  const isActing = (): boolean => acting.get(directory) === driver

  for (const problem of options.problems) reporter.notice(problem)
  let ownsCommand = false
  const own: api.Hooks = {
    ...createStopRouter({ ...ports, guard }),
    async 'chat.message'(_input, { message, parts }) {
      if (isOwnMessage(parts) || isNotice(parts)) return
      sessions.of(message.sessionID).prompt = message.id
      await guard.begins(await sessions.identify(message.sessionID))
    },
    async 'shell.env'({ sessionID, cwd }, { env }) {
      if (sessionID === undefined) return
      const agent = await sessions.identify(sessionID)
      sessions.noteFolder(agent.root, cwd)
      tellShell(env, agent, sessions.rootsFileOf(agent.root))
    },
    async config(config) {
      ownsCommand = options.workflow && addWorkflowCommand(config)
    },
    async 'command.execute.before'(input, { parts }) {
      // The command counts as the user's last message.
      sessions.of(input.sessionID).prompt = `command-${Date.now()}`
      if (!ownsCommand || input.command !== api.WORKFLOW_COMMAND) return
      await runWorkflowCommand(driver, input.sessionID, input.arguments, parts)
    },
  }
  const context = { client, directory, reporter, isActing, findRoots: guard.rootsFor }
  const { event: answerEvent, ...hooks } = composeHooks([safeHooks(own, '', context), ...options.createHooks(context)])
  /** Before it ends, OpenCode waits for `dispose`, but not for events. */
  const answering = new Set<Promise<void> | undefined>()
  return {
    ...hooks,
    // The tool of a replaced instance calls the active instance.
    tool: options.workflow ? { [api.WORKFLOW_TOOL]: workflowTool(() => acting.get(directory) ?? driver) } : {},
    event(input) {
      const answer = answerEvent?.(input).finally(() => answering.delete(answer))
      answering.add(answer)
      return answer ?? Promise.resolve()
    },
    async dispose() {
      const patience = new AbortController()
      await Promise.race([Promise.all(answering), sleep(DISPOSE_PATIENCE_MS, patience.signal)])
      patience.abort()
      if (isActing()) acting.delete(directory)
      sessions.dispose()
    },
  }
}
