/** Starts the real Claude Code, headless, in an environment that is independent of the machine. */

import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Ended, jsonLines, type RunningProcess, startProcess } from '../client-process.ts'

export interface RunOptions {
  /** The client's executable, from `ensureClaudeCode()`. */
  binary: string
  /** The project's folder: the client's working directory. */
  project: string
  /** The client's home, for its settings, transcripts and memory. */
  home: string
  path: string
  model: { url: string }
  /** The user's first message. An empty one is not sent, which needs `interactive`. */
  prompt: string
  /** `json` gives one result; `stream-json` each event, hooks' notices among them. */
  output?: 'json' | 'stream-json'
  /** True to keep the client's input open, so that the user can interrupt and type again: `RunningClient.send`. */
  interactive?: boolean
  /** The tools that the agent may use without asking. */
  allowedTools?: string
  /** Further arguments, for example `['--resume', sessionId]`. */
  args?: readonly string[]
  /** Further environment variables. */
  env?: Readonly<Record<string, string>>
  /** The working directory, if it is not the project's folder. */
  cwd?: string
  timeoutMs?: number
}

/** An event of `--output-format stream-json`; the last one, of type `result`, is also what `json` prints. */
export type ClientEvent = Record<string, unknown> & { type: string; subtype?: string }

export interface HookEnd {
  event: string
  exitCode: number | undefined
  stdout: string
  stderr: string
}

export interface RunResult extends Ended {
  /** Each line of stdout that is a JSON object, or each entry of a line that is a list. */
  events: ClientEvent[]
  /** The event of type `result`. */
  result: ClientEvent | undefined
  /**
   * The notices that the user sees beside the conversation, for example `Stop says: <systemMessage>`. Only with
   * `stream-json`, and never for a SubagentStop hook: for that see `transcriptNotices`.
   */
  notices: string[]
  /** The end of each hook, in order. Only with `stream-json` and the argument `--include-hook-events`. */
  hooks: HookEnd[]
  sessionId: string | undefined
  durationMs: number
}

export interface RunningClient extends Omit<RunningProcess<RunResult>, 'write'> {
  /** Types a message, presses Esc, or closes the input, after which the client ends. Only with `interactive`. */
  send(input: { readonly message: string } | 'esc' | 'end'): void
}

const DEFAULT_TIMEOUT_MS = 60_000
const DEFAULT_TOOLS = 'Bash Agent Skill Read Write'

/** Runs the client until it ends. At the time limit it is killed with everything it started, and `timedOut` is set. */
export function runClaude(options: RunOptions): Promise<RunResult> {
  return startClaude(options).done
}

/** Starts the client and returns it running, for tests that kill it or inspect the project while it runs. */
export function startClaude(options: RunOptions): RunningClient {
  const started = performance.now()
  mkdirSync(temporaryFolder(options), { recursive: true })
  const format = options.output ?? 'json'
  const words = [
    ...['-p', ...(options.interactive === true ? ['--input-format', 'stream-json'] : [options.prompt])],
    ...['--output-format', format, ...(format === 'stream-json' ? ['--verbose'] : [])],
    ...['--allowedTools', options.allowedTools ?? DEFAULT_TOOLS, ...(options.args ?? [])],
  ]
  const { write, ...client } = startProcess(options.binary, words, {
    cwd: options.cwd ?? options.project,
    env: clientEnvironment(options),
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    hasInput: options.interactive === true,
  })
  const done = client.done.then((ended): RunResult => {
    const values = jsonLines(ended.stdout).flatMap((value) => (Array.isArray(value) ? value : [value]))
    const events = values.filter(isEvent)
    return {
      ...ended,
      events,
      result: events.findLast((event) => event.type === 'result'),
      notices: events.flatMap(noticeOf),
      hooks: events.flatMap(hookEndOf),
      sessionId: events.map((event) => event.session_id).find((id) => typeof id === 'string'),
      durationMs: performance.now() - started,
    }
  })

  const send: RunningClient['send'] = (input) => {
    if (input === 'end') return write()
    write(`${JSON.stringify(input === 'esc' ? ESC : userMessage(input.message))}\n`)
  }
  if (options.interactive === true && options.prompt !== '') send({ message: options.prompt })
  return { ...client, send, done }
}

const ESC = { type: 'control_request', request_id: 'esc', request: { subtype: 'interrupt' } }

function userMessage(content: string): object {
  return { type: 'user', message: { role: 'user', content } }
}

/** The client's whole environment: nothing of this machine's. */
export function clientEnvironment(
  options: Pick<RunOptions, 'path' | 'home' | 'model' | 'env'>,
): Record<string, string> {
  return {
    PATH: options.path,
    HOME: options.home,
    ANTHROPIC_BASE_URL: options.model.url,
    ANTHROPIC_API_KEY: 'not-a-key',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_TMPDIR: temporaryFolder(options),
    ...options.env,
  }
}

/** The client's temp folder, in which it leaves a folder for each project. Inside the home it is removed with the home. */
function temporaryFolder(options: Pick<RunOptions, 'home'>): string {
  return join(options.home, 'tmp')
}

/** Every `systemMessage` of a hook in the transcripts below this home, those of sub-agents included. */
export function transcriptNotices(home: string): { hookEvent: string; content: string }[] {
  const folder = join(home, '.claude', 'projects')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'))
  const lines = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
  return lines.flatMap((line) => {
    if (!line.includes('"hook_system_message"')) return []
    const { attachment } = JSON.parse(line) as { attachment?: { type: string; hookEvent: string; content: string } }
    if (attachment?.type !== 'hook_system_message') return []
    return [{ hookEvent: attachment.hookEvent, content: attachment.content }]
  })
}

function noticeOf(event: ClientEvent): string[] {
  const isNotice = event.type === 'system' && event.subtype === 'informational'
  return isNotice && typeof event.content === 'string' ? [event.content] : []
}

function hookEndOf(event: ClientEvent): HookEnd[] {
  if (event.type !== 'system' || event.subtype !== 'hook_response') return []
  const { hook_event: name, exit_code: code, stdout, stderr } = event
  const exitCode = typeof code === 'number' ? code : undefined
  return [{ event: String(name), exitCode, stdout: String(stdout ?? ''), stderr: String(stderr ?? '') }]
}

function isEvent(value: unknown): value is ClientEvent {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
