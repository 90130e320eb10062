import path from 'node:path'
import { findCommandForm } from '../disk/command-form.ts'
import {
  type Hooks,
  isOneShot,
  type PluginInput,
  type StoppingOutput,
  screenOf,
  WORKFLOW_COMMAND,
  WORKFLOW_TOOL,
} from '../hosts/opencode/api.ts'
import { isOwnMessage } from '../hosts/opencode/conversation.ts'
import { Turns } from '../hosts/opencode/turns.ts'
import { COMMAND_SENTENCES } from '../kernel/command-errors.ts'
import { addSentences } from '../kernel/error-messages.ts'
import { composeHooks, createReporter, safeHook } from '../opencode-hooks/factory.ts'
import { Guard } from './guard/guard.ts'
import { InLoopGuard } from './guard/in-loop.ts'
import { IdleGuard, SubAgentGuard } from './guard/prompt-guards.ts'
import { RootsFiles, Sessions, tellShell } from './sessions.ts'
import { StopRouter } from './stop-router.ts'
import { addWorkflowCommand, runWorkflowCommand, WorkflowDriver, workflowTool } from './workflow/driver.ts'
import { IdleRuns } from './workflow/idle-runs.ts'

const DISPOSE_PATIENCE_MS = 1_000

const PACKAGE = path.join(import.meta.dirname, '..', '..')
const CLI = path.join(PACKAGE, 'bin', 'postflight.js')

/** OpenCode calls this once per project folder. */
export async function server(
  { client, directory }: PluginInput,
  given?: Readonly<Record<string, unknown>>,
): Promise<Hooks> {
  const environment = process.env
  if (environment.POSTFLIGHT_DISABLE === '1') return {}
  addSentences(COMMAND_SENTENCES)

  // zod writes to the global object when loaded.
  const { readOptions } = await import('./options.ts')
  const options = readOptions(given)
  const oneShot = isOneShot(process.argv)
  const driven = new Set<string>()
  const rootsFiles = new RootsFiles()
  const sessions = new Sessions(client, rootsFiles)
  const turns = new Turns(client)
  const reporter = createReporter(client, () => guard.rootsFor(undefined), screenOf(process.argv))
  const findForm = () => findCommandForm(environment, CLI, directory)
  const location = { folder: directory, environment, findForm, findsMarkers: options.guard }
  const guard = new Guard(location, sessions, reporter, options.workflow ? new IdleRuns(driven) : undefined)
  const idle = new IdleGuard(client, sessions, guard)
  const inLoop = new InLoopGuard(client, guard)
  const subAgents = new SubAgentGuard(client, sessions, guard, turns)
  const router = new StopRouter({ sessions, turns, guard, idle, inLoop, subAgents, oneShot })
  const findRoot = (): string | undefined => guard.rootsFor(undefined)[0]
  const ports = {
    client,
    sessions,
    turns,
    subAgents,
    reporter,
    folder: directory,
    packageFolder: PACKAGE,
    findRoot,
    driven,
  }
  const driver = new WorkflowDriver(ports)

  const instance = { driver }
  takeOver(directory, instance)
  const safely = <A extends unknown[]>(where: string, hook: (...words: A) => Promise<void> | void) =>
    safeHook(where, reporter, () => isActing(directory, instance), hook)

  for (const problem of options.problems) reporter.notice(problem)

  let ownsCommand = false
  const stopping = safely('session.stopping', (input: { sessionID: string }, output: StoppingOutput) =>
    router.onStopping(input.sessionID, output),
  )

  const own: Hooks = {
    event: safely('event', ({ event }) => router.onEvent(event)),
    'chat.message': safely('chat.message', async (_input, { message, parts }) => {
      sessions.noteType(message.sessionID, message.agent)
      if (isOwnMessage(parts)) return
      sessions.notePrompt(message.sessionID, message.id)
      await guard.begins(await sessions.identify(message.sessionID))
    }),
    'shell.env': safely('shell.env', async ({ sessionID, cwd }, { env }) => {
      if (sessionID === undefined) return
      const agent = await sessions.identify(sessionID)
      sessions.noteFolder(agent.root, cwd)
      tellShell(env, agent, await rootsFiles.fileOf(agent.root))
    }),
    'tool.execute.before': safely('tool.execute.before', ({ sessionID }) => inLoop.toolStarts(sessionID)),
    'tool.execute.after': safely('tool.execute.after', (call, output) => router.onToolEnded(call, output)),
    'experimental.text.complete': safely('experimental.text.complete', ({ sessionID, messageID }) =>
      router.onTextCompleted(sessionID, messageID),
    ),
    'experimental.chat.messages.transform': safely('experimental.chat.messages.transform', async (_input, output) => {
      const session = output.messages.at(-1)?.info.sessionID
      if (session !== undefined) await inLoop.stepBegins(await sessions.identify(session), output.messages)
    }),
    'session.stopping': stopping,
    'experimental.session.stopping': stopping,
    config: safely('config', (config) => {
      ownsCommand = options.workflow && addWorkflowCommand(config)
    }),
    // A replaced instance's tool calls the active one.
    tool: options.workflow
      ? { [WORKFLOW_TOOL]: workflowTool(() => (actingIn(directory) as typeof instance | undefined)?.driver ?? driver) }
      : {},
    'command.execute.before': safely('command.execute.before', async (input, { parts }) => {
      // The command counts as the user's last message.
      sessions.notePrompt(input.sessionID, `command-${Date.now()}`)
      if (!ownsCommand || input.command !== WORKFLOW_COMMAND) return
      await runWorkflowCommand(driver, input.sessionID, input.arguments, parts)
    }),
  }
  const isCurrent = (): boolean => isActing(directory, instance)
  const context = { client, directory, reporter, isActing: isCurrent, findRoots: guard.rootsFor.bind(guard) }
  const { event: answerEvent, ...hooks } = composeHooks([own, ...options.createHooks(context)])
  /** Before it ends, OpenCode waits for `dispose`, but not for events. */
  const answering = new Set<Promise<void> | undefined>()
  return {
    ...hooks,
    event(input) {
      const answer = answerEvent?.(input).finally(() => answering.delete(answer))
      answering.add(answer)
      return answer ?? Promise.resolve()
    },
    async dispose() {
      await Promise.race([Promise.all(answering), new Promise((resolve) => setTimeout(resolve, DISPOSE_PATIENCE_MS))])
      await hooks.dispose?.()
      leave(directory, instance)
      await rootsFiles.remove()
    },
  }
}

/*
 * Only the newest instance acts: OpenCode loads a plugin twice if it is listed under two names (the same file once,
 * 1.18.34), and again after a folder was disposed. On the global object: two copies are two modules.
 */
const KEY = Symbol.for('postflight-guard.opencode.acting')

type Holder = { [KEY]?: Map<string, object> }

export function actingIn(folder: string): object | undefined {
  return acting().get(folder)
}

function acting(): Map<string, object> {
  const holder = globalThis as Holder
  holder[KEY] ??= new Map()
  return holder[KEY]
}

export function takeOver(folder: string, instance: object): void {
  acting().set(folder, instance)
}

export function isActing(folder: string, instance: object): boolean {
  return acting().get(folder) === instance
}

export function leave(folder: string, instance: object): void {
  if (isActing(folder, instance)) acting().delete(folder)
}
