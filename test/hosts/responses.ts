/** The scripted model as OpenAI's Responses API, which Codex speaks: its requests as the other ones, and its streams. */

import type { ServerResponse } from 'node:http'
import type { ContentBlock, Message, Reply, RequestBody } from './model.ts'

interface Item {
  type: string
  role?: string
  content?: { type: string; text?: string }[]
  output?: unknown
}

export interface ResponsesBody {
  model: string
  instructions?: string
  input: Item[]
  tools?: { name?: string; type: string; tools?: { name: string }[] }[]
}

/** Codex's own messages to the model in the user's name. */
const CONTEXT = /^<(?:environment_context|user_instructions|skills|apps|plugins)\b|^# AGENTS\.md/

export function fromResponses(body: ResponsesBody): RequestBody {
  return {
    model: body.model,
    system: body.instructions ?? '',
    stream: true,
    tools: (body.tools ?? []).flatMap((tool) => tool.tools ?? [{ name: tool.name ?? tool.type }]),
    messages: body.input.flatMap(messagesOf),
  }
}

function messagesOf(item: Item): Message[] {
  if (item.type.endsWith('_call_output')) {
    return [{ role: 'user', content: [{ type: 'tool_result', content: outputOf(item.output) }] }]
  }
  if (item.type.endsWith('_call')) return [{ role: 'assistant', content: [] }]
  if (item.type !== 'message') return []
  return (item.content ?? []).map(({ text = '' }) => {
    const role = item.role === 'developer' || CONTEXT.test(text) ? 'system' : String(item.role)
    return { role, content: [{ type: 'text', text }] }
  })
}

function outputOf(output: unknown): ContentBlock[] {
  if (!Array.isArray(output)) {
    return [{ type: 'text', text: typeof output === 'string' ? output : JSON.stringify(output) }]
  }
  return output.map((part: { text?: string }) => ({ type: 'text', text: part.text ?? '' }))
}

/** Begins a stream of events, and returns what sends one. */
export function eventStream(response: ServerResponse): (type: string, data: object) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  return (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
}

export function sendResponses(response: ServerResponse, reply: Reply, nextId: (prefix: string) => string): void {
  const send = eventStream(response)
  const id = nextId('resp')
  send('response.created', { response: { id } })
  const { text, tools = [] } = reply
  if (text !== undefined) {
    const content = [{ type: 'output_text', text }]
    send('response.output_item.done', { item: { type: 'message', role: 'assistant', id: nextId('msg'), content } })
  }
  for (const { name, input, namespace } of tools) {
    const call = {
      type: 'function_call',
      id: nextId('fc'),
      call_id: nextId('call'),
      name,
      arguments: JSON.stringify(input),
    }
    send('response.output_item.done', { item: { ...call, ...(namespace !== undefined && { namespace }) } })
  }
  const usage = {
    ...{ input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null },
    total_tokens: 2,
  }
  send('response.completed', { response: { id, usage } })
  response.end()
}
