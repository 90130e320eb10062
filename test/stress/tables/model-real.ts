/** The two implementations that the model is compared with: the sources in this process, and the built files as processes. */

import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Outcome, Surroundings } from '../../../src/cli/command.ts'
import { run as adopt } from '../../../src/cli/commands/adopt.ts'
import { run as bypass } from '../../../src/cli/commands/bypass.ts'
import { run as clear } from '../../../src/cli/commands/clear.ts'
import { run as create } from '../../../src/cli/commands/create.ts'
import { run as explain } from '../../../src/cli/commands/explain.ts'
import { run as inspect } from '../../../src/cli/commands/inspect.ts'
import { run as step } from '../../../src/cli/commands/step.ts'
import { run as wait } from '../../../src/cli/commands/wait.ts'
import { handleSessionStart } from '../../../src/hook/session-start.ts'
import { handleStop } from '../../../src/hook/stop.ts'
import { handleToolUse } from '../../../src/hook/tool-use.ts'
import type { Occasion } from '../../../src/hosts/host.ts'
import { parsePayload } from '../../../src/hosts/payload.ts'
import { PostflightError } from '../../../src/kernel/errors.ts'
import type { CommandContext } from '../../../src/project/command-context.ts'
import type { Painter } from '../../../src/views/print.ts'
import { CLI, HOOK_BUNDLE, LAUNCHER, runProcess } from '../../support/process.ts'
import { type Around, instrument, withFault } from '../support/instrument.ts'
import { PLAN_VARIABLE, type Plan } from '../support/preload.ts'
import type { CommandResult, Identity, PlannedKill, Real, Stop, StopResult, Task, ToolUse } from './model.ts'
import { TASKS } from './model.ts'

/** Creates a project, calls `use` with its folder, and removes it. */
export async function withProject<T>(use: (root: string) => Promise<T>): Promise<T> {
  const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'postflight-model-')))
  try {
    fs.mkdirSync(join(base, '.git'))
    for (const task of TASKS) fs.mkdirSync(join(base, 'project', 'specs', task), { recursive: true })
    return await use(join(base, 'project'))
  } finally {
    fs.rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 })
  }
}

function payloadOf(stop: Stop, cwd: string): string {
  const { event, session, agent, background, prompt } = stop
  return JSON.stringify({
    hook_event_name: event,
    session_id: session,
    prompt_id: prompt,
    cwd,
    ...(agent !== undefined && { agent_id: agent }),
    ...(background && { background_tasks: [{ type: 'subagent', status: 'running' }] }),
  })
}

function toolPayload({ command, output, prompt }: ToolUse, { session, agent }: Identity, cwd: string): string {
  return JSON.stringify({
    hook_event_name: 'PostToolUse',
    session_id: session,
    prompt_id: prompt,
    cwd,
    // The main conversation's tool calls have no agent.
    ...(agent !== undefined && agent !== 'main' && { agent_id: agent }),
    tool_name: 'Bash',
    tool_input: { command },
    tool_response: { stdout: output, stderr: '' },
  })
}

// ---- in this process ----

/** Thrown at the call at which a program is killed, and at each later one. */
class Killed extends Error {}

/** Makes the calls of the program that runs; undefined while none runs. */
let around: Around | undefined
let isDead = false

/** Closes what a killed program left open. */
let closeLeft = (): void => {}

/** Passes every file-system call of the sources below the temporary folder through `around`, but not the tests' own calls. */
export function instrumentSources(): void {
  const instrumented = instrument([fs.realpathSync(tmpdir())], (call, run) => {
    if (around === undefined) return run()
    if (isDead) throw new Killed()
    // No waiting for the disk: these kills do not cut the power.
    return around(call, call.name === 'fsyncSync' ? () => undefined : run)
  })
  closeLeft = instrumented.closeLeft
}

/** Runs a function of the sources until it ends or is killed. It waits for nothing, so nothing else runs meanwhile. */
async function attempt<T>(kill: PlannedKill | undefined, action: () => T | Promise<T>): Promise<T | 'killed'> {
  isDead = false
  around = withFault(kill?.at ?? 0, kill?.fault ?? 'none', () => {
    isDead = true
    throw new Killed()
  })
  try {
    const result = await action()
    return isDead ? 'killed' : result
  } catch (error) {
    if (isDead) return 'killed'
    throw error
  } finally {
    around = undefined
    closeLeft()
  }
}

export function inProcess(root: string): Real {
  let passedMs = 0
  const nowMs = (): number => Date.now() + passedMs
  const occasion = (payload: string): Occasion => ({
    payload: parsePayload(payload, nowMs()),
    environment: {},
    roots: [root],
    reader: { foundRoot: root, findForm: () => ({ onPath: true, byNpx: false, script: '/postflight.js' }) },
    nowMs: nowMs(),
    deadline: Number.POSITIVE_INFINITY,
    startMs: nowMs(),
    sessionBornMs: undefined,
  })
  const count: Record<string, number> = {}
  const killed = (result: unknown): void => {
    if (result === 'killed') count.killed = (count.killed ?? 0) + 1
  }
  return {
    root,
    nowMs,
    count,
    pass(ms) {
      passedMs += ms
    },
    async stop(stop, planned): Promise<StopResult> {
      const result = await attempt(planned, () => handleStop(occasion(payloadOf(stop, root))))
      killed(result)
      if (result === 'killed') return 'killed'
      const blocks = result.recorded.flatMap(({ entry }) =>
        entry.event === 'block' ? [[entry.task, entry.count]] : [],
      )
      if ((result.answer.kind === 'block') !== blocks.length > 0)
        throw new Error('the answer does not match the journal')
      count.blocked = (count.blocked ?? 0) + blocks.length
      return { blocks: Object.fromEntries(blocks) as Partial<Record<Task, number>> }
    },
    async sessionStart(session) {
      handleSessionStart(occasion(JSON.stringify({ hook_event_name: 'SessionStart', session_id: session, cwd: root })))
    },
    async toolUse(use, identity, planned) {
      const result = await attempt(planned, () => handleToolUse(occasion(toolPayload(use, identity, root))))
      killed(result)
      return result === 'killed' ? 'killed' : 'done'
    },
    async command(words, identity, planned): Promise<CommandResult> {
      try {
        const result = await attempt(planned, () => runCommand(root, nowMs(), words, identity))
        killed(result)
        if (result === 'killed') return 'killed'
        if (typeof result === 'number') throw new Error(`${words[0]} printed everything itself`)
        return { code: 'done', id: (result.data as { id?: string }).id }
      } catch (error) {
        if (error instanceof PostflightError) return { code: error.code, id: undefined }
        throw error
      }
    },
  }
}

const plain = (text: string): string => text
const PLAIN: Painter = { bold: plain, dim: plain, green: plain, yellow: plain, red: plain }
/** The commands that the model uses need nothing else. */
const SURROUNDINGS = { paint: PLAIN } as Surroundings

function runCommand(
  root: string,
  nowMs: number,
  words: readonly string[],
  { session, agent }: Identity,
): Outcome | Promise<Outcome> {
  const context: CommandContext = {
    environment: { POSTFLIGHT_HOST_SESSION: session, ...(agent !== undefined && { POSTFLIGHT_AGENT: agent }) },
    cwd: root,
    nowMs,
    findStart: () => nowMs,
    rootOption: undefined,
    packageFolder: '/package',
    findHome: () => '/home',
    platform: process.platform,
    isOutputCaught: () => false,
    note: () => {},
  }
  const [name, task = '', third = ''] = words
  const option = (wanted: string) => (words.includes(wanted) ? words[words.indexOf(wanted) + 1] : undefined)
  switch (name) {
    case 'create': {
      const [operation = '', reason = '', ...step] = ['--operation', '--reason', '--step'].map(option)
      const options = { operation, reason, step: step.filter((one) => one !== undefined), check: [], stepCheck: [] }
      return create(context, [task, undefined], { ...options, force: words.includes('--force') }, SURROUNDINGS)
    }
    case 'clear': {
      const none = { all: false, orphaned: false, returnMeta: false, dryRun: false, runChecks: false, unchecked: false }
      return clear(context, [task], { ...none, timeout: 1_000 }, SURROUNDINGS)
    }
    case 'step':
      return step(context, [task, third], { undo: false, runChecks: false, timeout: 1_000 }, SURROUNDINGS)
    case 'bypass':
      return bypass(context, [task], { all: false }, SURROUNDINGS)
    case 'wait':
      return wait(context, [task], { for: option('--for') ?? '' }, SURROUNDINGS)
    case 'adopt':
      return adopt(context, [task], {}, SURROUNDINGS)
    case 'inspect':
      return inspect(context, [task], { exitCode: false, watch: false }, SURROUNDINGS)
    default:
      return explain(context, [], {}, SURROUNDINGS)
  }
}

// ---- as processes ----

/** The built files as processes. `preload` kills a process at one of its file-system calls. */
export function asProcesses(root: string, preload: string): Real {
  const count: Record<string, number> = {}
  const run = async (
    program: 'hook' | 'cli',
    words: readonly string[],
    input: string,
    env: Readonly<Record<string, string>>,
    planned: PlannedKill | undefined,
  ) => {
    count.processes = (count.processes ?? 0) + 1
    const clean = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: root, ...env }
    if (planned === undefined) {
      const [start, first] = program === 'hook' ? [LAUNCHER, []] : [process.execPath, [CLI]]
      return runProcess(start, [...first, ...words], { cwd: root, input, env: clean })
    }
    const plan: Plan = { folders: [root], ...planned }
    const result = await runProcess(
      process.execPath,
      ['--require', preload, program === 'hook' ? HOOK_BUNDLE : CLI, ...words],
      { cwd: root, input, env: { ...clean, [PLAN_VARIABLE]: JSON.stringify(plan) } },
    )
    if (result.signal !== null) count.killed = (count.killed ?? 0) + 1
    return result
  }
  return {
    root,
    count,
    nowMs: () => Date.now(),
    pass: undefined,
    async stop(stop, planned): Promise<StopResult> {
      const result = await run('hook', [], payloadOf(stop, root), {}, planned)
      if (result.signal !== null) return 'killed'
      const answer = JSON.parse(result.stdout) as { reason?: string }
      const blocks: Partial<Record<Task, number>> = {}
      for (const [, task, number] of (answer.reason ?? '').matchAll(/^Task (\S+):[\s\S]*?Blocked stop (\d) of 3/gm)) {
        blocks[task as Task] = Number(number)
      }
      count.blocked = (count.blocked ?? 0) + Object.keys(blocks).length
      return { blocks }
    },
    async sessionStart(session) {
      const payload = JSON.stringify({ hook_event_name: 'SessionStart', session_id: session, cwd: root })
      await run('hook', ['SessionStart'], payload, {}, undefined)
    },
    async toolUse(use, identity, planned) {
      const result = await run('hook', [], toolPayload(use, identity, root), {}, planned)
      return result.signal === null ? 'done' : 'killed'
    },
    async command(words, { session, agent }, planned): Promise<CommandResult> {
      const env = { POSTFLIGHT_HOST_SESSION: session, ...(agent !== undefined && { POSTFLIGHT_AGENT: agent }) }
      const result = await run('cli', [...words, '--json'], '', env, planned)
      if (result.signal !== null) return 'killed'
      const document = JSON.parse(result.stdout) as { id?: string; error?: { code: string } }
      return { code: document.error?.code ?? 'done', id: document.id }
    },
  }
}
