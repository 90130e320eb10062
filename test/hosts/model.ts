/**
 * A scripted model: an HTTP server on loopback that replaces the Anthropic Messages API. It answers each conversation
 * ("actor") from a script and records the client's requests, so that a test can check what reached the model. A
 * conversation is recognized by a word in its first user message (`ACTOR:worker-a`); one without such a word is `main`.
 */

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventStream, fromResponses, type ResponsesBody, sendResponses } from './responses.ts'

export interface ToolCall {
  name: string
  input: Record<string, unknown>
  /** Codex groups some tools. */
  namespace?: string
  /** The arguments as the model writes them, where they should not be the JSON of `input`. */
  written?: string
}

/** One answer of the model. With tools the turn goes on, without it the agent stops. */
export interface Reply {
  text?: string
  tools?: readonly ToolCall[]
  /** The pause (ms) between text and tool calls in a streamed answer. */
  pauseMs?: number
  /** The tokens of its request (1), in a streamed answer: many of them make a client compact the conversation. */
  tokens?: number
  /** An HTTP error instead of an answer. */
  failure?: Failure
}

export interface Failure {
  status: number
  headers?: Readonly<Record<string, string>>
  /** The words of the error, where they should not name the status. */
  message?: string
}

export interface ContentBlock {
  type: string
  text?: string
  content?: string | ContentBlock[]
  tool_use_id?: string
  is_error?: boolean
  name?: string
  input?: Record<string, unknown>
}

export interface Message {
  role: string
  content: string | ContentBlock[]
}

export interface RequestBody {
  model: string
  messages: Message[]
  system?: string | ContentBlock[]
  tools?: { name: string; description?: string }[]
  stream?: boolean
  max_tokens?: number
}

export interface Turn {
  /** The number of this request among the actor's, from 0. */
  index: number
  request: RequestBody
  headers: IncomingHttpHeaders
  /** The sub-agent's id, which Claude Code sends in a header; undefined in the main conversation. */
  agentId: string | undefined
  /** Every user text so far, in order, without `<system-reminder>` blocks. */
  userTexts: string[]
  lastUserText: string
  /** The texts of `<system-reminder>` blocks (and of system messages between turns), in order. */
  reminders: string[]
  /** The texts of all tool results so far, in order. */
  toolResults: string[]
  /** The newest tool result, when the agent's last turn asked for tools. */
  lastToolResult: string | undefined
  systemText: string
}

/** Answers by turn: a list, or a function, which may wait for an event elsewhere. */
export type Script = readonly Reply[] | ((turn: Turn) => Reply | undefined | Promise<Reply | undefined>)

export interface RecordedRequest {
  actor: string
  turn: Turn
  /** Absent until the script has answered. */
  reply: Reply | undefined
}

export interface Model {
  /** For `ANTHROPIC_BASE_URL`. */
  url: string
  /** Every request of an actor, in order of arrival. */
  requests: readonly RecordedRequest[]
  /** Requests without tools: titles, topic detection, token counts. They get a harmless answer. */
  helpers: readonly { body: RequestBody; headers: IncomingHttpHeaders }[]
  /** The names of actors whose script had no answer left, once for each such turn. */
  ranOut: readonly string[]
  /** Errors that scripts threw; the client got an HTTP error instead of an answer. */
  errors: readonly Error[]
  turns(actor: string): Turn[]
  /** Resolves when the actor's turn with this index (from 0) has arrived. */
  arrived(actor: string, index: number): Promise<Turn>
  close(): Promise<void>
}

const ACTOR_WORD = /\bACTOR:([\w.-]*\w)/
const REMINDER = /<system-reminder>([\s\S]*?)<\/system-reminder>/g
/** Claude Code 2.1.332 puts a block's reason into a reminder with these words; 2.1.330 sent it as a plain text. */
const HOOK_PREFACE = /^The text below is the output of a hook .*\n/
const RAN_OUT: Reply = { text: 'done' }

/** Starts a scripted model on a free port of 127.0.0.1. */
export async function startModel({ actors }: { actors: Record<string, Script> }): Promise<Model> {
  const requests: RecordedRequest[] = []
  const helpers: { body: RequestBody; headers: IncomingHttpHeaders }[] = []
  const ranOut: string[] = []
  const errors: Error[] = []
  const waiting: { actor: string; index: number; resolve: (turn: Turn) => void }[] = []

  const turns = (actor: string): Turn[] => requests.filter((seen) => seen.actor === actor).map((seen) => seen.turn)

  async function answer(body: RequestBody, headers: IncomingHttpHeaders): Promise<Reply> {
    if ((body.tools ?? []).length === 0) {
      helpers.push({ body, headers })
      return { text: 'ok' }
    }
    const parts = takeApart(body)
    const actor = ACTOR_WORD.exec(openingText(body))?.[1] ?? 'main'
    const agentId = headers['x-claude-code-agent-id']
    const known = { request: body, headers, agentId: typeof agentId === 'string' ? agentId : undefined }
    const turn: Turn = { index: turns(actor).length, ...known, ...parts }
    const record: RecordedRequest = { actor, turn, reply: undefined }
    requests.push(record)
    for (const waiter of waiting.filter((one) => one.actor === actor && one.index === turn.index)) waiter.resolve(turn)

    const script = actors[actor]
    const scripted = typeof script === 'function' ? await script(turn) : script?.[turn.index]
    if (scripted === undefined) ranOut.push(actor)
    record.reply = scripted ?? RAN_OUT
    return record.reply
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const text = await readAll(request)
    if (request.method === 'POST' && path.endsWith('/responses')) {
      const reply = await answer(fromResponses(JSON.parse(text) as ResponsesBody), request.headers)
      if (reply.failure !== undefined) return sendFailure(response, reply.failure)
      return sendResponses(response, reply, nextId)
    }
    if (request.method !== 'POST' || !path.includes('/messages')) return sendJson(response, 404, {})
    const body = JSON.parse(text) as RequestBody
    if (path.endsWith('/count_tokens')) {
      helpers.push({ body, headers: request.headers })
      return sendJson(response, 200, { input_tokens: 1 })
    }
    const reply = await answer(body, request.headers)
    if (reply.failure !== undefined) return sendFailure(response, reply.failure)
    if (body.stream === true) await sendStream(response, body.model, reply)
    else sendJson(response, 200, wholeMessage(body.model, reply))
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      errors.push(error instanceof Error ? error : new Error(String(error)))
      // Clients do not repeat a request after 400.
      const message = `the test's script failed: ${String(error)}`
      sendJson(response, 400, { type: 'error', error: { type: 'invalid_request_error', message } })
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    helpers,
    ranOut,
    errors,
    turns,
    arrived(actor, index) {
      const seen = turns(actor)[index]
      if (seen !== undefined) return Promise.resolve(seen)
      return new Promise((resolve) => waiting.push({ actor, index, resolve }))
    },
    close() {
      return new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }
}

type Parts = Omit<Turn, 'index' | 'request' | 'headers' | 'agentId'>

function takeApart(body: RequestBody): Parts {
  const userTexts: string[] = []
  const reminders: string[] = []
  const toolResults: string[] = []
  for (const message of body.messages) {
    if (message.role === 'assistant') continue
    for (const block of blocks(message.content)) {
      if (block.type === 'tool_result') toolResults.push(textOf(block.content ?? ''))
      if (block.type !== 'text') continue
      if (message.role === 'system') reminders.push(block.text ?? '')
      else splitReminders(block.text ?? '', userTexts, reminders)
    }
  }
  // Not only the last message: the client may send system messages after a tool result.
  const newest = body.messages.slice(body.messages.findLastIndex((message) => message.role === 'assistant') + 1)
  const answered = newest.some((message) => blocks(message.content).some((block) => block.type === 'tool_result'))
  return {
    userTexts,
    lastUserText: userTexts.at(-1) ?? '',
    reminders,
    toolResults,
    lastToolResult: answered ? toolResults.at(-1) : undefined,
    systemText: textOf(body.system ?? ''),
  }
}

function splitReminders(text: string, userTexts: string[], reminders: string[]): void {
  for (const [, found = ''] of text.matchAll(REMINDER)) {
    const words = found.trim().replace(HOOK_PREFACE, '')
    if (words.startsWith('Stop hook feedback:')) userTexts.push(words)
    else reminders.push(words)
  }
  const rest = text.replaceAll(REMINDER, '').trim()
  if (rest !== '') userTexts.push(rest)
}

/** What the user said before the agent answered: some clients begin with texts of their own. */
function openingText({ messages }: RequestBody): string {
  const answer = messages.findIndex((message) => message.role === 'assistant')
  const opening = messages.slice(0, answer === -1 ? undefined : answer).filter((message) => message.role === 'user')
  return opening.map((message) => textOf(message.content).replaceAll(REMINDER, '')).join('\n')
}

function blocks(content: string | ContentBlock[]): ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function textOf(content: string | ContentBlock[]): string {
  return blocks(content)
    .flatMap((block) => (block.type === 'text' ? (block.text ?? '') : []))
    .join('\n')
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) return
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function sendFailure(response: ServerResponse, { status, headers, message }: Failure): void {
  for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value)
  const type = status === 429 && message === undefined ? 'rate_limit_error' : 'api_error'
  const error = { type, message: message ?? `the test's script says ${status}` }
  sendJson(response, status, { type: 'error', error })
}

let ids = 0

/** A new id; ids need to differ within one test run only. */
function nextId(prefix: string): string {
  ids += 1
  return `${prefix}_${process.pid}_${ids}`
}

function wholeMessage(model: string, reply: Reply): object {
  const content: object[] = reply.text === undefined ? [] : [{ type: 'text', text: reply.text }]
  for (const tool of reply.tools ?? []) content.push({ type: 'tool_use', id: nextId('toolu'), ...tool })
  return { ...message(model), content, stop_reason: stopReason(reply) }
}

function message(model: string, tokens = 1): object {
  const usage = { input_tokens: tokens, output_tokens: 1 }
  return { id: nextId('msg'), type: 'message', role: 'assistant', model, content: [], stop_reason: null, usage }
}

function stopReason(reply: Reply): string {
  return (reply.tools ?? []).length > 0 ? 'tool_use' : 'end_turn'
}

async function sendStream(response: ServerResponse, model: string, reply: Reply): Promise<void> {
  const send = eventStream(response)
  send('message_start', { message: message(model, reply.tokens) })
  let index = 0
  const block = (start: object, delta: object): void => {
    send('content_block_start', { index, content_block: start })
    send('content_block_delta', { index, delta })
    send('content_block_stop', { index })
    index += 1
  }
  if (reply.text !== undefined) block({ type: 'text', text: '' }, { type: 'text_delta', text: reply.text })
  if (reply.pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, reply.pauseMs))
  for (const tool of reply.tools ?? []) {
    const start = { type: 'tool_use', id: nextId('toolu'), name: tool.name, input: {} }
    block(start, { type: 'input_json_delta', partial_json: tool.written ?? JSON.stringify(tool.input) })
  }
  send('message_delta', { delta: { stop_reason: stopReason(reply), stop_sequence: null }, usage: { output_tokens: 1 } })
  send('message_stop', {})
  response.end()
}
