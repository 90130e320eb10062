/**
 * Twenty conversations at once on one OpenCode server with the plugin, and twenty on a server without it at the same
 * time: the plugin must cost hardly anything. `npm run test:load` takes five minutes and prints the figures.
 */

import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { hostsSkipped } from '../hosts/client-cache.ts'
import type { Reply, Turn } from '../hosts/model.ts'
import { bash, call, delegate, reasonsIn, say } from '../hosts/opencode/agents.ts'
import { type GuardedProject, guardedProject, pluginAt } from '../hosts/opencode/guarded.ts'
import type { Server } from '../hosts/opencode/serve.ts'
import { instrumentFolder } from './instrument.ts'

const METER = fileURLToPath(new URL('meter.mjs', import.meta.url))
const SECONDS = Number(process.env.POSTFLIGHT_LOAD_SECONDS ?? 300)
const SESSIONS = 20
const SAMPLE_MS = 5_000
/** The parts of the time in which a server is warm, and at its end. */
const WARM = [0.3, 0.5] as const
const AT_THE_END = [0.8, 1] as const
/** The pause (ms) before each answer of the model, and between two rounds of a conversation. */
const THINKING_MS = 400
const RESTING_MS = 1_000

const MAX_ADDED_MB = 20
/** The share of sections into which a garbage collection of the server may fall, whatever the plugin does in them. */
const COLLECTED_SHARE = 1 / 10_000

interface Sample {
  at: number
  rss: number
  heapUsed: number
  external: number
  /** Since the beginning. */
  pauses: { over20: number; over50: number; over100: number; longest: number }
  sections: { count: number; totalMs: number; longest: { name: string; ms: number; wallMs: number }; over50: object[] }
  /** Time (ms) since the last line for which the server was ready to run, but another program had the processor. */
  waitedMs: number
}

const FLOW = { name: 'load', phases: ['one', 'two'].map((id) => ({ id, prompt: 'Do it.', artifact: `${id}.txt` })) }

const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** The command that makes a marker of the agent that runs it, as a skill does in plain bash. */
function marker(folder: string): Reply {
  const marker = `specs/${folder}/.postflight-pending`
  const fields = `'{"cc_session_id": "%s", "agent_id": "%s"}' "$POSTFLIGHT_HOST_SESSION" "$POSTFLIGHT_AGENT"`
  return bash(`mkdir -p specs/${folder} && printf ${fields} > ${marker}`)
}

function keep(folder: string): Reply {
  return bash(`rm -f specs/${folder}/.postflight-pending specs/${folder}/.postflight-loop-guard`)
}

/** The answers of conversation `index`: in turn, plain work, a marker that is cleared late, a sub-agent, a workflow. */
function conversation(index: number, hasPlugin: boolean): (turn: Turn) => Promise<Reply> {
  const number = 100 + index
  let round = 0
  return async (turn) => {
    await rest(THINKING_MS)
    if (turn.lastToolResult !== undefined) return say('Done with this.')
    if (turn.lastUserText.includes('Blocked stop ')) return keep(`${number}_main`)
    round += 1
    const task = `${number}_flow${round}`
    switch ((round + index) % 4) {
      case 1:
        return bash('ls')
      case 2:
        return marker(`${number}_main`)
      case 3:
        return delegate(`worker-${index}`)
      default:
        return hasPlugin && index % 8 === 3
          ? call('workflow_run', { task, definition: 'flow.json' })
          : bash('echo more work')
    }
  }
}

/** A sub-agent that makes a marker, is held, and clears it. */
function worker(index: number): (turn: Turn) => Promise<Reply> {
  const folder = `${200 + index}_worker`
  return async (turn) => {
    await rest(THINKING_MS)
    if (turn.toolResults.length === 0) return marker(folder)
    return turn.lastToolResult === undefined && reasonsIn(turn).length > 0 ? keep(folder) : say('The report.')
  }
}

/** The session of a phase, which names no actor. */
async function phase(turn: Turn): Promise<Reply> {
  await rest(THINKING_MS)
  if (turn.lastToolResult !== undefined) return say('Done.')
  const [, task, name] = /task (\S+): phase "(\w+)"/.exec(turn.lastUserText) ?? []
  return bash(`printf x > specs/${task}/${name}.txt`)
}

function actorsFor(hasPlugin: boolean): Record<string, (turn: Turn) => Promise<Reply>> {
  const numbers = [...Array(SESSIONS).keys()]
  return {
    ...Object.fromEntries(numbers.map((index) => [`c${index}`, conversation(index, hasPlugin)])),
    ...Object.fromEntries(numbers.map((index) => [`worker-${index}`, worker(index)])),
    main: phase,
  }
}

interface Loaded {
  guarded: GuardedProject
  server: Server
  out: string
  sessions: string[]
  prompts: number
}

async function loadedServer(hasPlugin: boolean): Promise<Loaded> {
  const guarded = guardedProject({ isAlone: true })
  guarded.project.write('flow.json', JSON.stringify(FLOW))
  const out = join(guarded.project.base, 'samples')
  guarded.changeConfig((config) => ({ ...config, plugin: [METER] }))
  if (hasPlugin) instrumentFolder(join(guarded.packageFolder, 'dist', 'opencode'))
  const guard = hasPlugin ? { LOAD_GUARD: pluginAt(guarded.packageFolder) } : {}
  const { server } = await guarded.serve(actorsFor(hasPlugin), {
    timeoutMs: 3 * SECONDS * 1_000 + 300_000,
    env: { LOAD_OUT: out, LOAD_SAMPLE_MS: String(SAMPLE_MS), ...guard },
  })
  const sessions: string[] = []
  for (let index = 0; index < SESSIONS; index++) sessions.push(await server.createSession())
  return { guarded, server, out, sessions, prompts: 0 }
}

/** Prompts every conversation again as soon as it has rested. */
async function keepBusy(loaded: Loaded, untilMs: number): Promise<void> {
  const { server, sessions } = loaded
  const idleSince = new Map<string, number>(sessions.map((session) => [session, 0]))
  while (Date.now() < untilMs) {
    const busy = await server.busy()
    for (const [index, session] of sessions.entries()) {
      if (busy.includes(session)) idleSince.delete(session)
      else if (!idleSince.has(session)) idleSince.set(session, Date.now())
      if (Date.now() - (idleSince.get(session) ?? Date.now()) < RESTING_MS) continue
      idleSince.delete(session)
      loaded.prompts += 1
      await server.prompt(session, `ACTOR:c${index} go on`)
    }
    await rest(500)
  }
}

interface Figures {
  prompts: number
  /** After a garbage collection, in MB: when the server was warm, and at the end. */
  memoryMb: { resident: [number, number]; heap: [number, number] }
  pauses: Sample['pauses']
  sections: Sample['sections']
  /** The share of the time for which the server was ready to run, but another program had the processor. */
  starvedShare: number
}

function figuresOf(loaded: Loaded): Figures {
  const lines = readFileSync(loaded.out, 'utf8').trim().split('\n')
  const samples = lines.map((line): Sample => JSON.parse(line))
  const { pauses, sections } = samples.at(-1) as Sample
  type Size = (sample: Sample) => number
  // The least of some samples: what is in flight at one of them does not count.
  const least = (from: number, to: number, sizeOf: Size): number => {
    const some = samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to))
    return Math.round(Math.min(...some.map(sizeOf)) / 100_000) / 10
  }
  const both = (sizeOf: Size): [number, number] => [least(...WARM, sizeOf), least(...AT_THE_END, sizeOf)]
  const starvedMs = samples.reduce((sum, { waitedMs }) => sum + waitedMs, 0)
  return {
    prompts: loaded.prompts,
    memoryMb: { resident: both(({ rss }) => rss), heap: both(({ heapUsed }) => heapUsed) },
    pauses,
    sections,
    starvedShare: Math.round((100 * starvedMs) / (samples.length * SAMPLE_MS)) / 100,
  }
}

describe.skipIf(hostsSkipped())(`${SESSIONS} conversations for ${SECONDS} s`, () => {
  it('cost less than 20 MB after warm-up, and the plugin does not stop the server for more than 50 ms', async () => {
    const [plain, guarded] = [await loadedServer(false), await loadedServer(true)]
    const untilMs = Date.now() + SECONDS * 1_000
    await Promise.all([keepBusy(plain, untilMs), keepBusy(guarded, untilMs)])
    await rest(SAMPLE_MS)
    const [without, having] = [figuresOf(plain), figuresOf(guarded)]
    const story = guarded.guarded.story()
    const counted = (name: string): number => story.filter((line) => line.startsWith(name)).length
    const report = { without, having, blocks: counted('block'), prompts: counted('workflow'), errors: counted('error') }
    process.stdout.write(`${JSON.stringify(report, null, 1)}\n`)
    if (process.env.POSTFLIGHT_LOAD_REPORT !== undefined) {
      appendFileSync(process.env.POSTFLIGHT_LOAD_REPORT, `${JSON.stringify(report)}\n`)
    }
    expect(report.blocks).toBeGreaterThan(SESSIONS / 2)
    expect(report.prompts).toBeGreaterThan(0)
    expect(report.errors).toBe(0)
    expect(having.sections.over50.length, JSON.stringify(having.sections.over50)).toBeLessThanOrEqual(
      having.sections.count * COLLECTED_SHARE,
    )
    const added = ({ memoryMb: { heap } }: Figures): number => heap[1] - heap[0]
    expect(added(having) - added(without)).toBeLessThan(MAX_ADDED_MB)
  })
})
