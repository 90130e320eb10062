/** Drives `opencode serve` through the published SDK of the same version. */

import { createOpencodeClient, type Message, type Part, type Session } from '@opencode-ai/sdk/v2/client'
import { type RunningClient, type RunOptions, start } from './run-client.ts'

export interface ServedMessage {
  info: Message
  parts: Part[]
}

/** The agent and the model of a prompt, where it should not use the session's. */
export interface PromptOptions {
  agent?: string
  model?: { providerID: string; modelID: string }
  /** The shape that the answer must have. */
  format?: { type: 'json_schema'; schema: Record<string, unknown> }
}

export interface Server {
  url: string
  client: RunningClient
  inFolder(directory: string): Server
  /** Ends what runs in the project, and forgets its configuration. */
  dispose(): Promise<void>
  createSession(): Promise<string>
  prompt(session: string, text: string, options?: PromptOptions): Promise<void>
  command(session: string, command: string, words: string): Promise<void>
  abort(session: string): Promise<void>
  remove(session: string): Promise<void>
  /** Compacts a session, as a user does with `/compact`, and returns when the summary is written. */
  compact(session: string): Promise<void>
  messages(session: string): Promise<ServedMessage[]>
  /** The user's messages, and those that a plugin sent as the user. */
  asked(session: string): Promise<{ agent: string; isSynthetic: boolean }[]>
  children(session: string): Promise<Session[]>
  busy(): Promise<string[]>
  /** Resolves when no session was busy for several looks in a row: a prompt on idle comes at once. */
  settled(): Promise<void>
}

/** The time (ms) between two looks at a server, and the number of quiet looks in a row after which it is at rest. */
const LOOK_MS = 100
const QUIET_LOOKS = 8

/** The data of an answer; an answer without data fails the test. */
const STRICT = { throwOnError: true } as const

export async function startServer(options: RunOptions): Promise<Server> {
  const client = start(options, ['serve', '--hostname', '127.0.0.1', '--port', '0'])
  return connected(await listening(client), client, options.project)
}

function connected(url: string, client: RunningClient, directory: string): Server {
  const { instance, session } = createOpencodeClient({ baseUrl: url, directory })

  const server: Server = {
    url,
    client,
    inFolder: (folder) => connected(url, client, folder),
    async dispose() {
      await instance.dispose({}, STRICT)
    },
    createSession: async () => (await session.create({}, STRICT)).data.id,
    async prompt(sessionID, text, further) {
      await session.promptAsync({ sessionID, parts: [{ type: 'text', text }], ...further }, STRICT)
    },
    async command(sessionID, command, words) {
      await session.command({ sessionID, command, arguments: words }, STRICT)
    },
    async abort(sessionID) {
      await session.abort({ sessionID }, STRICT)
    },
    async remove(sessionID) {
      await session.delete({ sessionID }, STRICT)
    },
    async compact(sessionID) {
      await session.summarize({ sessionID, providerID: 'scripted', modelID: 'scripted-1' }, STRICT)
    },
    messages: async (sessionID) => (await session.messages({ sessionID }, STRICT)).data,
    async asked(sessionID) {
      return (await server.messages(sessionID)).flatMap(({ info, parts }) => {
        const [first] = parts
        if (info.role !== 'user') return []
        return [{ agent: info.agent, isSynthetic: first?.type === 'text' && first.synthetic === true }]
      })
    },
    children: async (sessionID) => (await session.children({ sessionID }, STRICT)).data,
    busy: async () => Object.keys((await session.status({}, STRICT)).data),
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
    if (Date.now() > deadline) throw new Error(`the server does not answer: ${JSON.stringify(client.output())}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
