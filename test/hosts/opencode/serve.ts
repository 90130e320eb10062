/** `opencode serve`, and the calls of its HTTP interface that the tests use. */

import { type RunningClient, type RunOptions, start } from './run-client.ts'

/** A message of a session, as far as the tests look into it. */
export interface ServedMessage {
  info: {
    id: string
    role: 'user' | 'assistant'
    agent?: string
    model?: { providerID: string; modelID: string }
    error?: { name: string }
  }
  parts: { type: string; text?: string; synthetic?: boolean; tool?: string; state?: { output?: string } }[]
}

/** A session. */
export interface ServedSession {
  id: string
  parentID?: string
  title: string
  permission?: { permission: string; pattern: string; action: string }[]
}

/** A server that runs. */
export interface Server {
  url: string
  client: RunningClient
  /** Starts a conversation and gives its id. */
  createSession(): Promise<string>
  /** Says something to a session; returns at once. */
  prompt(session: string, text: string, further?: object): Promise<void>
  /** Runs a slash command; returns when its turn has ended. */
  command(session: string, command: string, words: string): Promise<void>
  abort(session: string): Promise<void>
  messages(session: string): Promise<ServedMessage[]>
  children(session: string): Promise<ServedSession[]>
  /** Sessions that are not idle. */
  busy(): Promise<string[]>
  /** Resolves when nothing is busy any more, and has not been for several looks: a prompt on idle comes at once. */
  settled(): Promise<void>
}

/** How often (ms) a server is asked, and how many quiet answers in a row mean that it is at rest. */
const LOOK_MS = 100
const QUIET_LOOKS = 8

/** Starts a server and waits until it listens. */
export async function startServer(options: RunOptions): Promise<Server> {
  const client = start(options, ['serve', '--hostname', '127.0.0.1', '--port', '0'])
  const url = await listening(client)

  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    const text = await response.text()
    return (text === '' ? undefined : JSON.parse(text)) as T
  }

  const server: Server = {
    url,
    client,
    createSession: async () => (await call<{ id: string }>('POST', '/session', {})).id,
    prompt: (session, text, further = {}) =>
      call('POST', `/session/${session}/prompt_async`, { parts: [{ type: 'text', text }], ...further }),
    command: (session, command, words) => call('POST', `/session/${session}/command`, { command, arguments: words }),
    abort: (session) => call('POST', `/session/${session}/abort`),
    messages: (session) => call('GET', `/session/${session}/message`),
    children: (session) => call('GET', `/session/${session}/children`),
    busy: async () => Object.keys(await call<object>('GET', '/session/status')),
    async settled() {
      for (let quiet = 0; quiet < QUIET_LOOKS; ) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
        quiet = (await server.busy()).length === 0 ? quiet + 1 : 0
      }
    },
  }
  return server
}

async function listening(client: RunningClient): Promise<string> {
  const deadline = Date.now() + 30_000
  for (;;) {
    const url = /listening on (http:\/\/\S+)/.exec(client.output().stdout)?.[1]
    if (url !== undefined) return url
    if (Date.now() > deadline) throw new Error(`no server: ${JSON.stringify(client.output())}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
