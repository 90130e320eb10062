import path from 'node:path'
import { sleep } from '../../disk/age.ts'
import { realPathIfSeen } from '../../disk/file-facts.ts'
import { retryWhileLocked, withoutSleep } from '../../disk/lock.ts'
import { type HostConfig, type Part, type PluginTool, WORKFLOW_COMMAND } from '../../hosts/opencode/api.ts'
import { type Manner, ownText, PLAN_AGENT } from '../../hosts/opencode/conversation.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { SPECS_FOLDER } from '../../kernel/files.ts'
import { counted, quote } from '../../kernel/text.ts'
import { attempt } from '../../kernel/values.ts'
import { CHECK_LIMIT_MS } from '../../marker/run-checks.ts'
import { detailOf, internalError, messageForUser, type Reporter } from '../../opencode-hooks/factory.ts'
import { homeFolder } from '../../project/home-folder.ts'
import { appendJournal } from '../../project/journal.ts'
import type { JournalEntry } from '../../project/journal-entry.ts'
import { inFolder, newRootFolder, taskFolderFor } from '../../project/new-task-folder.ts'
import { type TaskFolder, taskFolderName } from '../../project/task-folder.ts'
import { findTaskFolder, taskFolderBelow } from '../../project/task-folders.ts'
import { givenInputs, inputValues } from '../../run/definition/definition.ts'
import { cameBack, driveRun, endEntries } from '../../run/drive.ts'
import { needOf } from '../../run/machine/position.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import { haltState } from '../../run/machine/steering.ts'
import { findDefinition } from '../../run/store/find-definition.ts'
import { resumeRun, startRun, steer } from '../../run/store/run.ts'
import { requireTrust, trustRun } from '../../run/store/run-trust.ts'
import { readState, requireState, runEntry } from '../../run/store/state-store.ts'
import { type Agent, CONVERSATION_DELETED } from '../sessions.ts'
import type { DrivenRuns } from './driven-runs.ts'
import { callerManner, createPhases, endOf, type PhasePorts, type Phases } from './phase-runner.ts'

const LOOK_MS = 2_000

/** Works inside one tool or command call, for which OpenCode waits (docs/design.md, "Workflows"). */

interface RunRequest {
  readonly task: string
  /** A path or a shipped example; empty to continue. */
  readonly definition: string
  /** One `NAME=VALUE` each. */
  readonly inputs: readonly string[]
}

interface DriverPorts extends PhasePorts {
  readonly reporter: Reporter
  readonly folder: string
  readonly packageFolder: string
  /** The project's root first. */
  readonly findRoots: (conversation: string) => readonly string[]
  readonly driven: DrivenRuns
}

type Caller = Agent & Readonly<{ manner: Manner }>

export function createDriver(ports: DriverPorts) {
  const { sessions, reporter, folder: cwd, packageFolder, findRoots, driven } = ports

  /** OpenCode would show a thrown error as an internal error of the tool. */
  async function run(session: string, request: RunRequest, signal: AbortSignal | undefined): Promise<string> {
    try {
      return await runTask(session, request, signal)
    } catch (error) {
      const known = messageForUser(error)
      if (known !== undefined) return known
      reporter.fault('workflow driver', error)
      return internalError('workflow driver', detailOf(error))
    }
  }

  async function runTask(session: string, request: RunRequest, signal: AbortSignal | undefined): Promise<string> {
    const caller = await sessions.identify(session)
    if ((await sessions.lineageOf(session)).some((id) => sessions.of(id).isPhase)) {
      return 'A phase of a workflow cannot run a workflow: do what the prompt says, then end your turn.'
    }
    const folder = locate(request, caller.root)
    if (driven.has(folder.path, caller.root)) return `${workflowOf(folder)} is already running: wait for it.`
    driven.add(folder.path, caller.root)
    const signals = [sessions.deletionOf(session), ...(signal === undefined ? [] : [signal])]
    try {
      const manner = await callerManner(ports.client, session)
      if (manner.agent === PLAN_AGENT) {
        return 'A workflow sends no prompt in plan mode. Tell the user. After plan mode, call workflow_run again.'
      }
      if (request.definition !== '') {
        // Also if the client that ran it was killed.
        const present = readState(folder)
        if (present !== undefined && needOf(present).kind !== 'nothing') return begunAlready(folder, present, caller)
        await start(folder, request, caller.root)
      }
      return await drive(folder, { ...caller, manner }, AbortSignal.any(signals))
    } finally {
      driven.delete(folder.path, caller.root)
    }
  }

  function locate({ task, definition }: RunRequest, conversation: string): TaskFolder {
    const roots = findRoots(conversation)
    const location = { rootOption: undefined, environment: process.env, cwd, findHome: homeFolder }
    const [root = realPathIfSeen(newRootFolder(location))] = roots
    if (definition !== '') {
      // A model may give the folder's path.
      return taskFolderFor(root, task.replace(/^specs\//, ''), undefined, (slug) =>
        taskFolderName({ number: Number(task), separator: '_', slug }),
      )
    }
    const found = roots.flatMap((one) => findTaskFolder(one, task) ?? [])
    const isDriven = (one: TaskFolder): boolean => {
      const state = readState(one)
      return state?.active === true && state.hostSession === conversation
    }
    const folder = found.find(isDriven) ?? found.find((one) => readState(one) !== undefined) ?? found[0]
    if (folder !== undefined) return folder
    // The folder of a starting run appears a moment later.
    const starting = taskFolderBelow(root, task)
    if (driven.has(starting.path, conversation)) return starting
    if (roots.length === 0) throw new PostflightError('root-none', { start: cwd })
    throw new PostflightError('task-unknown', { task, specs: path.join(root, SPECS_FOLDER), wanted: 'workflow' })
  }

  async function start(folder: TaskFolder, { definition, inputs: given }: RunRequest, root: string): Promise<void> {
    // Loaded on demand, because the parsers are large.
    const { requireDefinition } = await import('../../run/store/load-definition.ts')
    const { definitionName } = await import('../../run/shared/own-definition.ts')
    // Their first use takes about 25 ms: other work of the server may run in between.
    await sleep(0)
    const file = findDefinition({ cwd, packageFolder }, definition)
    const ready = requireDefinition(file, definition)
    const inputs = inputValues(ready, givenInputs(given))
    const definitionFile = definitionName(file, { root: folder.root, packageFolder })
    const starter = { hostSession: root, parentSession: root, fresh: false, inputs, definitionFile }
    const { state } = await inFolder(folder, () =>
      retryWhileLocked(() => startRun(folder, ready, { ...starter, nowMs: Date.now() })),
    )
    trustRun(state, { environment: process.env, session: root })
    record(folder, [runEntry(folder, state, `started: ${state.name}`)])
  }

  async function drive(folder: TaskFolder, { session, root, manner }: Caller, signal: AbortSignal): Promise<string> {
    const truster = { environment: process.env, session: root }
    const present = requireState(folder)
    requireTrust(folder, present, truster)
    if (!present.active || present.hostSession !== root || present.stopRequestedMs !== undefined) {
      const runner = { hostSession: root, parentSession: root }
      const { state } = await retryWhileLocked(() => resumeRun(folder, runner, Date.now()))
      record(folder, endEntries(folder, { active: true }, state))
    }
    trustRun(requireState(folder), truster)
    const ended = new AbortController()
    const watching = setInterval(() => attempt(() => isTakenOver(folder, root)) && ended.abort(), LOOK_MS)
    const unwanted = AbortSignal.any([signal, ended.signal])
    const phases = createPhases(ports, { session, manner, signal, unwanted })
    const rest = await driveRun(folder, {
      findOccasion: () => ({
        ...cameBack(Date.now(), ({ hostSession }) => hostSession === root, sessions.of(root).prompt),
        // A prompt from before this call has no session.
        isLost: phases.countPrompts() === 0,
      }),
      truster,
      check: { limitMs: CHECK_LIMIT_MS, survivesSignals: false, signal: unwanted },
      record: (entries) => record(folder, entries),
      give: phases.give,
    }).finally(() => clearInterval(watching))
    const isElsewhere = `${workflowOf(folder)} now belongs to another session.`
    if (rest.command === 'none' || rest.command === 'checking') return isElsewhere
    if (rest.command === 'interrupted') {
      const halt = (state: WorkflowState): WorkflowState =>
        state.hostSession === root ? haltState(state, rest.why ?? endOf(signal), Date.now()) : state
      const { before, state } = await retryWhileLocked(() => steer(folder, Date.now(), halt, () => false))
      record(folder, endEntries(folder, before, state))
      if (state.active) return isElsewhere
      return summary(folder, state, phases)
    }
    const need = needOf(rest.state)
    if (need.kind === 'approval') {
      const task = quote(folder.task, 80)
      return `${workflowOf(folder)} waits for a person to approve or reject the result of phase "${need.phase}" in a terminal: \`postflight workflow approve ${task}\` or \`postflight workflow reject ${task} --reason TEXT\`. Tell the user and end your turn. Do not run either yourself. When it is approved or rejected, call workflow_run again, with an empty definition.`
    }
    if (rest.command === 'wait' && rest.wait !== undefined) {
      return `${workflowOf(folder)} waits for: ${quote(rest.wait.for)}. Tell the user and end your turn. When you have the answer, call workflow_run again, with an empty definition.`
    }
    return summary(folder, rest.state, phases)
  }

  return { run }
}

function isTakenOver(folder: TaskFolder, session: string): boolean {
  const state = readState(folder)
  return state === undefined || !state.active || state.hostSession !== session
}

export type WorkflowDriver = ReturnType<typeof createDriver>

function summary(folder: TaskFolder, state: WorkflowState, { countPrompts, notes }: Phases): string {
  const { why, outcome = state.phase } = state
  const isResumable = why !== CONVERSATION_DELETED && needOf(state).kind !== 'nothing'
  const reason = why === undefined ? '' : `: ${quote(why)}`
  const result = `${workflowOf(folder)} is ${outcome}${reason}.`
  return [
    isResumable ? `${result} Call workflow_run again, with an empty definition, to continue it.` : result,
    `${counted(countPrompts(), 'prompt was', 'prompts were')} sent in this call.`,
    ...new Set(notes),
  ].join('\n')
}

function workflowOf({ task }: TaskFolder): string {
  return `The workflow of task ${quote(task, 80)}`
}

function begunAlready(folder: TaskFolder, { active, hostSession }: WorkflowState, { root }: Agent): string {
  const isElsewhere = active && hostSession !== root
  const where = isElsewhere ? ', in another session. If that session has ended: to' : '. To'
  return `${workflowOf(folder)} has begun already${where} continue it here, call workflow_run again, with an empty definition. To end it for good: \`postflight workflow abort ${quote(folder.task, 80)}\`.`
}

function record({ root }: TaskFolder, entries: readonly JournalEntry[]): void {
  withoutSleep(() => appendJournal(root, entries, Date.now()))
}

export function workflowTool(findDriver: () => WorkflowDriver): PluginTool {
  return {
    description:
      'Runs the postflight workflow of a task to its end: phases gated by artifacts, each in a sub-agent of its own, one after another. Returns when the workflow is completed, stopped or stuck. Call it once and wait.',
    args: {
      task: {
        type: 'string',
        description:
          'The task: its number, or the name of its folder in specs/. A new run makes the folder if it is missing: then give its name, such as 259_my_slug',
      },
      definition: {
        type: 'string',
        description:
          'Path of the definition (JSON or YAML) to start a new run with, or the name of a shipped example; an empty string to continue the existing run',
      },
      inputs: {
        type: 'string',
        description:
          'The inputs of a new run, one NAME=VALUE on each line; an empty string for none. Ask the user for values that you do not know',
      },
    },
    execute: ({ task, definition, inputs }, { sessionID, abort }) => {
      const lines = textOf(inputs).split('\n')
      const given = lines.filter((line) => line.trim() !== '')
      return findDriver().run(sessionID, { task: textOf(task), definition: textOf(definition), inputs: given }, abort)
    },
  }
}

/** A model may send anything. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
}

export function addWorkflowCommand(config: HostConfig): boolean {
  const template = 'The workflow of task $ARGUMENTS was run.'
  const description = 'Run or continue a postflight workflow: <task> [definition] [--set NAME=VALUE]'
  config.command ??= {}
  config.command[WORKFLOW_COMMAND] ??= { template, description }
  return config.command[WORKFLOW_COMMAND].template === template
}

export async function runWorkflowCommand(driver: WorkflowDriver, session: string, words: string, parts: Part[]) {
  const [task = '', ...rest] = commandWords(words)
  const end = rest.indexOf('--set')
  const definition = (end === -1 ? rest : rest.slice(0, end)).join(' ')
  const inputs = end === -1 ? [] : rest.slice(end).filter((word) => word !== '--set')
  const outcome =
    task === ''
      ? 'Usage: /postflight-workflow <task> [definition file] [--set NAME=VALUE]…'
      : await driver.run(session, { task, definition, inputs }, undefined)
  parts.splice(0, parts.length, ownText(`Tell the user the result in a sentence or two:\n\n${outcome}`))
}

/** `opencode run --command NAME "a b"` passes the quotes too and escapes inner ones (1.18.34). */
export function commandWords(line: string): string[] {
  const words = [...line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double?.replaceAll('\\"', '"') ?? single ?? plain ?? '',
  )
  const [only = ''] = words
  return words.length === 1 && /\s/.test(only) ? commandWords(only) : words
}
