import path from 'node:path'
import { sleep } from '../disk/age.ts'
import {
  type Hooks,
  type HostEvent,
  interruptedIn,
  isOneShot,
  type PluginHooks,
  type PluginInput,
  type StoppingOutput,
  screenOf,
  type ToolCall,
  type ToolOutput,
  WORKFLOW_COMMAND,
  WORKFLOW_TOOL,
} from '../hosts/opencode/api.ts'
import { isNotice, isOwnMessage, Turns } from '../hosts/opencode/conversation.ts'
import { MAIN_AGENT } from '../hosts/payload.ts'
import { COMMAND_SENTENCES } from '../kernel/command-errors.ts'
import { addSentences } from '../kernel/errors.ts'
import { composeHooks, createReporter, safeHooks } from '../opencode-hooks/factory.ts'
import { findCommandForm } from '../project/root.ts'
import { createGuard, type Guard } from './guard/guard.ts'
import { createInLoopGuard, type InLoopGuard } from './guard/in-loop.ts'
import { createIdleGuard, createSubAgentGuard, type IdleGuard, type SubAgentGuard } from './guard/prompt-guards.ts'
import { type Agent, RootsFiles, Sessions, tellShell } from './sessions.ts'
import {
  addWorkflowCommand,
  type DrivingCall,
  runWorkflowCommand,
  WorkflowDriver,
  workflowTool,
} from './workflow/driver.ts'
import { createIdleRuns } from './workflow/idle-runs.ts'

/** The one place that knows the four ways to block an agent. */

interface StopRouterParts {
  readonly sessions: Sessions
  readonly turns: Turns
  readonly guard: Guard
  readonly idle: IdleGuard
  readonly inLoop: InLoopGuard
  readonly subAgents: SubAgentGuard
  readonly driver: WorkflowDriver
  /** Whether the process ends at the first idle. */
  readonly oneShot: boolean
}

function createStopRouter({ sessions, turns, guard, idle, inLoop, subAgents, driver, oneShot }: StopRouterParts) {
  const background = new Set<string>()
  let asksBeforeStop = false

  function isHeldInLoop(agent: Agent): boolean {
    if (asksBeforeStop) return false
    return agent.agent === MAIN_AGENT ? oneShot : background.has(agent.session)
  }

  async function onEvent(event: HostEvent): Promise<void> {
    const { type, properties: { sessionID, part } = {} } = event
    const deleted = sessions.noteEvent(event)
    if (deleted !== undefined) forget(deleted)
    if (type === 'message.part.updated' && part?.type === 'tool' && part.tool === 'task') {
      noteBackground(part.state?.metadata)
    }
    const interrupted = interruptedIn(event)
    if (interrupted !== undefined) subAgents.interrupted(interrupted)
    if (sessionID === undefined) return
    if (type === 'session.error') await inLoop.failed(sessionID)
    if (type === 'session.idle') await onIdle(sessionID)
  }

  async function onIdle(session: string): Promise<void> {
    turns.ring(session)
    const agent = await sessions.identify(session)
    const wasHeldInLoop = isHeldInLoop(agent)
    // A one-shot process is about to end: synchronous work first.
    if (wasHeldInLoop) await guard.stopped(agent)
    await inLoop.idle(session)
    if (agent.agent === MAIN_AGENT && !wasHeldInLoop && !asksBeforeStop) await idle.answer(agent)
  }

  async function onToolEnded({ tool, sessionID, args }: ToolCall, output: ToolOutput): Promise<void> {
    const isOurs = tool === 'bash' && String(args?.command).includes('postflight')
    if (isOurs) await guard.commandEnded(await sessions.identify(sessionID))
    const session = output.metadata?.sessionId
    if (tool !== 'task' || typeof session !== 'string') return
    noteBackground(output.metadata)
    if (!background.has(session)) await subAgents.taskEnded(session, output)
  }

  async function onTextCompleted(session: string, messageId: string): Promise<void> {
    const agent = await sessions.identify(session)
    if (isHeldInLoop(agent)) await inLoop.textCompleted(agent, messageId)
  }

  /** For a hook that has been proposed to OpenCode. */
  async function onStopping(session: string, output: StoppingOutput): Promise<void> {
    asksBeforeStop = true
    const agent = await sessions.identify(session)
    const isMain = agent.agent === MAIN_AGENT
    // Other sub-agents are blocked at the end of their `task`.
    if (!isMain && !background.has(session)) return
    const { reason } = await guard.stop(agent, isMain && !oneShot ? await sessions.countBusyBelow(session) : 0)
    if (reason !== undefined) Object.assign(output, { stop: false, continue: true, message: reason })
  }

  function noteBackground(metadata: Readonly<Record<string, unknown>> | undefined): void {
    if (metadata?.background === true && typeof metadata.sessionId === 'string') {
      background.add(metadata.sessionId)
    }
  }

  function forget(session: string): void {
    driver.noteDeleted(session)
    turns.ring(session, true)
    idle.forget(session)
    inLoop.forget(session)
    background.delete(session)
  }

  return { onEvent, onToolEnded, onTextCompleted, onStopping }
}

const DISPOSE_PATIENCE_MS = 1_000

const PACKAGE = path.join(import.meta.dirname, '..', '..')
const CLI = path.join(PACKAGE, 'bin', 'postflight.js')

/** OpenCode calls this once per project folder. */
export async function server(
  { client, directory }: PluginInput,
  given?: Readonly<Record<string, unknown>>,
): Promise<PluginHooks> {
  const environment = process.env
  if (environment.POSTFLIGHT_DISABLE === '1') return {}
  addSentences(COMMAND_SENTENCES)

  // zod writes to the global object when loaded.
  const { readOptions } = await import('./options.ts')
  const options = readOptions(given)
  const oneShot = isOneShot(process.argv)
  const driven = new Map<string, DrivingCall>()
  const rootsFiles = new RootsFiles()
  const sessions = new Sessions(client, rootsFiles)
  const turns = new Turns(client)
  const reporter = createReporter(client, () => guard.rootsFor(undefined), screenOf(process.argv))
  const findForm = () => findCommandForm(environment, CLI, directory)
  const finds = { findForm, findsMarkers: options.guard, findsRuns: options.workflow }
  const guard = createGuard({ folder: directory, environment, ...finds }, sessions, reporter, createIdleRuns(driven))
  const idle = createIdleGuard(client, sessions, guard)
  const inLoop = createInLoopGuard(client, guard)
  const subAgents = createSubAgentGuard(client, sessions, guard, turns)
  const driver = new WorkflowDriver({
    client,
    sessions,
    turns,
    subAgents,
    reporter,
    driven,
    folder: directory,
    packageFolder: PACKAGE,
    findRoots: guard.rootsFor,
  })
  const router = createStopRouter({ sessions, turns, guard, idle, inLoop, subAgents, driver, oneShot })

  const acting = actingDrivers().set(directory, driver)
  const isActing = (): boolean => acting.get(directory) === driver

  for (const problem of options.problems) reporter.notice(problem)

  let ownsCommand = false
  const own: Hooks = {
    event: ({ event }) => router.onEvent(event),
    async 'chat.message'(_input, { message, parts }) {
      sessions.noteMessage(message)
      if (isOwnMessage(parts) || isNotice(parts)) return
      sessions.notePrompt(message.sessionID, message.id)
      await guard.begins(await sessions.identify(message.sessionID))
    },
    async 'shell.env'({ sessionID, cwd }, { env }) {
      if (sessionID === undefined) return
      const agent = await sessions.identify(sessionID)
      sessions.noteFolder(agent.root, cwd)
      tellShell(env, agent, rootsFiles.fileOf(agent.root))
    },
    'tool.execute.before': ({ sessionID }) => inLoop.toolStarts(sessionID),
    'tool.execute.after': (call, output) => router.onToolEnded(call, output),
    'experimental.text.complete': ({ sessionID, messageID }) => router.onTextCompleted(sessionID, messageID),
    async 'experimental.chat.messages.transform'(_input, { messages }) {
      const session = messages.at(-1)?.info.sessionID
      if (session !== undefined) await inLoop.stepBegins(await sessions.identify(session), messages)
    },
    async 'experimental.session.compacting'({ sessionID }) {
      inLoop.compacts(sessionID)
    },
    'session.stopping': ({ sessionID }, output) => router.onStopping(sessionID, output),
    'experimental.session.stopping': ({ sessionID }, output) => router.onStopping(sessionID, output),
    async config(config) {
      ownsCommand = options.workflow && addWorkflowCommand(config)
    },
    async 'command.execute.before'(input, { parts }) {
      // The command counts as the user's last message.
      sessions.notePrompt(input.sessionID, `command-${Date.now()}`)
      if (!ownsCommand || input.command !== WORKFLOW_COMMAND) return
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
    tool: options.workflow ? { [WORKFLOW_TOOL]: workflowTool(() => acting.get(directory) ?? driver) } : {},
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
      rootsFiles.remove()
    },
  }
}

/*
 * Only the newest instance acts: OpenCode loads a plugin twice if it is listed under two names (the same file once,
 * 1.18.34), and again after a folder was disposed. On the global object: two copies are two modules.
 */
const KEY = Symbol.for('postflight-guard.opencode.acting')

function actingDrivers(): Map<string, WorkflowDriver> {
  const holder = globalThis as { [KEY]?: Map<string, WorkflowDriver> }
  holder[KEY] ??= new Map()
  return holder[KEY]
}
