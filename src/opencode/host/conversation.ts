import { OPENCODE_TEXT } from '../messages.ts'
import type {
  AssistantMessage,
  HostClient,
  Message,
  ModelName,
  Part,
  PermissionRule,
  PromptBody,
  UserMessage,
} from './api.ts'

/** What the plugin says and reads in a session. */

/** How many messages are read to find the last turn: a turn's steps are a message each. */
const LAST_MESSAGES = 20

/** How a session's next prompt must be run so that nothing about it changes. */
export interface Manner {
  readonly agent: string
  /** Absent where nobody has said yet: then OpenCode's own choice. */
  readonly model?: ModelName
  readonly variant?: string
  readonly system?: string
}

/** How the last turn of a session stands. */
export interface LastTurn {
  /** From the last user message. */
  readonly manner: Manner | undefined
  /** The model's last message; undefined where it has said nothing. */
  readonly answer: { readonly id: string; readonly text: string } | undefined
  /**
   * `open`: it is not on disk yet that it ended. `failed`: an error, an interruption, a tool that was refused, a prompt
   * that nobody answered. `well`: the model stopped by itself, which is all that a guard may answer.
   */
  readonly ended: 'open' | 'failed' | 'well'
  readonly error: string | undefined
}

/** The words by which our own prompts are known. */
const TAG = 'postflight-guard'

/** A text that the plugin puts into a session: the host does not take it for the user's, and nor do we. */
export function ownText(text: string): Part {
  return { type: 'text', text, synthetic: true, metadata: { [TAG]: true } }
}

/** How the turn of a user message is run. */
export function mannerOf({ agent, model, system }: UserMessage): Manner {
  const { providerID, modelID, variant } = model
  return {
    agent,
    model: { providerID, modelID },
    ...(variant !== undefined && { variant }),
    ...(system !== undefined && { system }),
  }
}

/** The last text of a message: what a caller is handed. */
export function lastText(message: Message): string {
  return message.parts.findLast((part) => part.type === 'text')?.text ?? ''
}

/** Reads the end of a session. @throws {Error} when the host does not answer. */
export async function readLastTurn(client: HostClient, session: string): Promise<LastTurn> {
  const read = await client.session.messages({ path: { id: session }, query: { limit: LAST_MESSAGES } })
  const messages = need(read, 'session.messages')
  const user = messages.findLast(({ info }) => info.role === 'user')?.info as UserMessage | undefined
  const said = messages.findLast(({ info }) => info.role === 'assistant')
  const answer = said?.info as AssistantMessage | undefined
  return {
    manner: user === undefined ? undefined : mannerOf(user),
    answer: said === undefined ? undefined : { id: said.info.id, text: lastText(said) },
    ended: endOf(answer, user),
    error: answer?.error === undefined ? undefined : (answer.error.data?.message ?? answer.error.name ?? 'unknown'),
  }
}

function endOf(answer: AssistantMessage | undefined, user: UserMessage | undefined): LastTurn['ended'] {
  if (answer === undefined || answer.error !== undefined || answer.parentID !== user?.id) return 'failed'
  // An error is told before it is written down, and the session is idle by then.
  if (answer.time.completed === undefined) return 'open'
  return answer.finish === undefined || answer.finish === 'tool-calls' ? 'failed' : 'well'
}

/** Sends a prompt and does not wait. @throws {Error} when the host refuses it. */
export async function sendPrompt(client: HostClient, session: string, body: PromptBody): Promise<void> {
  const { error } = await client.session.promptAsync({ path: { id: session }, body })
  if (error !== undefined) throw refused('session.promptAsync', error)
}

/**
 * Puts a message at the end of a running session, as one that its loop has yet to answer. Gives its place.
 * @throws {Error} when the host refuses it.
 */
export async function appendMessage(client: HostClient, session: string, body: PromptBody): Promise<MessagePlace> {
  const { info, parts } = need(
    await client.session.prompt({ path: { id: session }, body: { ...body, noReply: true } }),
    'session.prompt',
  )
  return { session, message: info.id, parts: parts.flatMap((part) => part.id ?? []) }
}

/** Where a message of ours lies. */
export interface MessagePlace {
  readonly session: string
  readonly message: string
  readonly parts: readonly string[]
}

/** Empties a message; the message itself cannot be removed while the session is busy (1.18.33). */
export async function emptyMessage(client: HostClient, place: MessagePlace): Promise<void> {
  for (const part of place.parts) {
    const { error } = await client._client.delete({ url: `${urlOf(place)}/part/${part}` })
    if (error !== undefined) throw refused('part.delete', error)
  }
}

/** Changes the text of a message that holds one part. */
export async function rewriteMessage(client: HostClient, place: MessagePlace, text: string): Promise<void> {
  const [id] = place.parts
  const body = { id, sessionID: place.session, messageID: place.message, ...ownText(text) }
  const { error } = await client._client.patch({ url: `${urlOf(place)}/part/${id}`, body })
  if (error !== undefined) throw refused('part.update', error)
}

/** Removes a message from an idle session. */
export async function removeMessage(client: HostClient, place: MessagePlace): Promise<void> {
  await client._client.delete({ url: urlOf(place) })
}

function urlOf({ session, message }: MessagePlace): string {
  return `/session/${session}/message/${message}`
}

/** Starts a session below another one. Gives its id. @throws {Error} when the host refuses it. */
export async function createChild(
  client: HostClient,
  child: {
    readonly parent: string
    readonly title: string
    readonly agent: string
    readonly permission: readonly PermissionRule[]
  },
): Promise<string> {
  const { parent, title, agent, permission } = child
  return need(await client.session.create({ body: { parentID: parent, title, agent, permission } }), 'session.create')
    .id
}

/** The value of a reply. @throws {Error} when there is none. */
export function need<T>(reply: { readonly data?: T; readonly error?: unknown }, call: string): T {
  if (reply.data === undefined || reply.data === null) throw refused(call, reply.error)
  return reply.data
}

function refused(call: string, error: unknown): Error {
  const { name, data, message } = (error ?? {}) as { name?: string; data?: { message?: string }; message?: string }
  return new Error(OPENCODE_TEXT.refused(call, data?.message ?? message ?? name ?? 'no answer'))
}
