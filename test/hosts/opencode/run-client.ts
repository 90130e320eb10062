/** Starts the real OpenCode, headless, in an environment that is independent of the machine. */

import { fileURLToPath } from 'node:url'
import { type Ended, jsonLines, type RunningProcess, startProcess } from '../client-process.ts'

export interface RunOptions {
  binary: string
  project: string
  home: string
  path: string
  env?: Readonly<Record<string, string>>
  timeoutMs?: number
}

export interface RunEvent {
  type: string
  sessionID?: string
  part?: { type?: string; text?: string; tool?: string; state?: { status?: string; output?: string } }
}

export interface RunResult extends Ended {
  events: RunEvent[]
  /** Every text that the user saw, in order. */
  texts: string[]
  sessionId: string | undefined
}

export type RunningClient = RunningProcess<RunResult>

const DEFAULT_TIMEOUT_MS = 100_000

/** An empty catalogue of models: the tests' own model is in the configuration. */
const NO_MODELS = fileURLToPath(new URL('no-models.json', import.meta.url))

export function environmentOf({ path, home, env }: RunOptions): Record<string, string> {
  return {
    PATH: path,
    HOME: home,
    // Otherwise it would ask the network for news, models and servers.
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    // The catalogue in the client takes a third of the processor's time of a short run to read.
    OPENCODE_MODELS_PATH: NO_MODELS,
    // Bun's slowest compiler pays off in long runs only; without it a run takes a fifth less of the processor.
    BUN_JSC_useFTLJIT: '0',
    ...env,
  }
}

export function start(options: RunOptions, words: readonly string[]): RunningClient {
  const { project: cwd, timeoutMs = DEFAULT_TIMEOUT_MS } = options
  const client = startProcess(options.binary, words, { cwd, env: environmentOf(options), timeoutMs })
  const done = client.done.then((ended) => {
    const events = jsonLines(ended.stdout) as RunEvent[]
    const texts = events.flatMap(({ type, part }) => (type === 'text' ? (part?.text ?? []) : []))
    return { ...ended, events, texts, sessionId: events.find((event) => event.sessionID !== undefined)?.sessionID }
  })
  return { ...client, done }
}
