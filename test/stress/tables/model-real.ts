/** The two implementations that the model is compared with: the sources in this process, and the built files as processes. */

import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CLI, HOOK_BUNDLE, LAUNCHER, runProcess } from '../../support/process.ts'
import { SOURCES } from '../../support/programs.ts'
import { type Around, instrument, withFault } from '../support/instrument.ts'
import { PLAN_VARIABLE, type Plan } from '../support/preload.ts'
import type { Identity, PlannedKill, Real, Stop, Task, ToolUse } from './model.ts'
import { TASKS } from './model.ts'

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

function payloadOf({ event, session, agent, background, prompt }: Stop): object {
  return {
    ...{ hook_event_name: event, session_id: session, prompt_id: prompt },
    ...(agent !== undefined && { agent_id: agent }),
    ...(background && { background_tasks: [{ type: 'subagent', status: 'running' }] }),
  }
}

function toolPayload({ command, output, prompt }: ToolUse, { session, agent }: Identity): object {
  return {
    ...{ hook_event_name: 'PostToolUse', session_id: session, prompt_id: prompt, tool_name: 'Bash' },
    // The main conversation's tool calls have no agent.
    ...(agent !== undefined && agent !== 'main' && { agent_id: agent }),
    ...{ tool_input: { command }, tool_response: { stdout: output, stderr: '' } },
  }
}

interface Programs {
  readonly nowMs: () => number
  readonly pass?: (ms: number) => void
  /** Runs the hook or the CLI. Returns its stdout; undefined if it was killed. */
  run(program: 'hook' | 'cli', words: readonly string[], given: Given): Promise<string | undefined>
}

interface Given {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly input?: string
  readonly kill: PlannedKill | undefined
}

function realOf(root: string, { nowMs, pass, run }: Programs): Real {
  const count: Record<string, number> = {}
  const ask = async (payload: object, kill: PlannedKill | undefined, words: readonly string[] = []) => {
    const given = { cwd: root, env: { HOME: root }, input: JSON.stringify({ ...payload, cwd: root }), kill }
    return noted(await run('hook', words, given))
  }
  const noted = (stdout: string | undefined): string | undefined => {
    if (stdout === undefined) count.killed = (count.killed ?? 0) + 1
    return stdout
  }
  return {
    ...{ root, count, nowMs, pass },
    async stop(stop, kill) {
      const stdout = await ask(payloadOf(stop), kill)
      if (stdout === undefined) return 'killed'
      const { reason = '' } = JSON.parse(stdout) as { reason?: string }
      const blocks: Partial<Record<Task, number>> = {}
      for (const [, task, number] of reason.matchAll(/^Task (\S+):[\s\S]*?Blocked stop (\d) of 3/gm)) {
        blocks[task as Task] = Number(number)
      }
      count.blocked = (count.blocked ?? 0) + Object.keys(blocks).length
      return { blocks }
    },
    async sessionStart(session) {
      await ask({ hook_event_name: 'SessionStart', session_id: session }, undefined, ['SessionStart'])
    },
    toolUse: async (use, identity, kill) =>
      (await ask(toolPayload(use, identity), kill)) === undefined ? 'killed' : 'done',
    async command(words, { session, agent }, kill) {
      const owner = { POSTFLIGHT_HOST_SESSION: session, ...(agent !== undefined && { POSTFLIGHT_AGENT: agent }) }
      const stdout = noted(await run('cli', [...words, '--json'], { cwd: root, env: { HOME: root, ...owner }, kill }))
      if (stdout === undefined) return 'killed'
      const document = JSON.parse(stdout) as { id?: string; error?: { code: string } }
      return { code: document.error?.code ?? 'done', id: document.id }
    },
  }
}

/** Thrown at the call at which a program is killed, and at each later one. */
class Killed extends Error {}

/** Makes the calls of the program that runs; undefined while none runs. */
let around: Around | undefined
let isDead = false
let closeLeft = (): void => {}
let passedMs = 0

/** Passes every file-system call of the sources below the temporary folder through `around`, but not the tests' own calls. */
export function instrumentSources(): void {
  const realNow = Date.now.bind(Date)
  Date.now = () => realNow() + passedMs
  const instrumented = instrument([fs.realpathSync(tmpdir())], (call, run) => {
    if (around === undefined) return run()
    if (isDead) throw new Killed()
    // No waiting for the disk: these kills do not cut the power.
    return around(call, call.name === 'fsyncSync' ? () => undefined : run)
  })
  closeLeft = instrumented.closeLeft
}

export function inProcess(root: string): Real {
  passedMs = 0
  return realOf(root, {
    nowMs: () => Date.now(),
    pass(ms) {
      passedMs += ms
    },
    async run(program, words, { kill, ...options }) {
      isDead = false
      around = withFault(kill?.at ?? 0, kill?.fault ?? 'none', () => {
        isDead = true
        throw new Killed()
      })
      try {
        const { stdout } = await SOURCES[program](words, options)
        return isDead ? undefined : stdout
      } catch (error) {
        if (isDead) return undefined
        throw error
      } finally {
        around = undefined
        closeLeft()
      }
    },
  })
}

/** The built files as processes. `preload` kills a process at one of its file-system calls. */
export function asProcesses(root: string, preload: string): Real {
  return realOf(root, {
    nowMs: () => Date.now(),
    async run(program, words, { kill, env, ...others }) {
      const plan: Plan = { folders: [root], ...kill }
      const options = {
        ...others,
        env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...env, ...(kill && { [PLAN_VARIABLE]: JSON.stringify(plan) }) },
      }
      const file = program === 'hook' ? HOOK_BUNDLE : CLI
      const [start, ...first] =
        kill === undefined && program === 'hook'
          ? [LAUNCHER]
          : [process.execPath, ...(kill === undefined ? [] : ['--require', preload]), file]
      const { stdout, signal } = await runProcess(start, [...first, ...words], options)
      return signal === null ? stdout : undefined
    },
  })
}
