import {
  type AssistantMessage,
  type HostClient,
  HostRefusal,
  type Message,
  type ModelName,
  need,
  type Part,
  type PermissionRule,
  type PromptBody,
  refused,
  type UserMessage,
} from './api.ts'
import { OPENCODE_TEXT } from './opencode-messages.ts'

/** Reads and writes the messages of a session. */

/** The number of messages that are read to find the last turn. Each step is a message, so a turn may have many more. */
const LAST_MESSAGES = 20

/** The settings of a session's turns, which a prompt of ours must keep. */
export interface Manner {
  readonly agent: string
  /** Absent where no message names one yet: then OpenCode chooses. */
  readonly model?: ModelName
  readonly variant?: string
  readonly system?: string
}

export interface LastTurn {
  /** From the last user message. */
  readonly manner: Manner | undefined
  /** The model's last message; undefined where there is none. */
  readonly answer: { readonly id: string; readonly text: string } | undefined
  /**
   * `open`: the end is not on disk yet. `failed`: an error, an interruption, a refused tool, a prompt without an answer, the
   * summary of a compaction (1.18.34 makes the session idle after it, also when the user asked for it with `/compact`).
   * `well`: the model itself stopped, the only end that a guard may answer.
   */
  readonly ended: 'open' | 'failed' | 'well'
  readonly error: string | undefined
}

/** The metadata key that marks our own prompts. */
const TAG = 'postflight-guard'

/** A text that the plugin adds to a session, marked as not written by the user. */
export function ownText(text: string): Part {
  return { type: 'text', text, synthetic: true, metadata: { [TAG]: true } }
}

/** True for a message whose texts are all the plugin's. */
export function isOwnMessage(parts: readonly Part[]): boolean {
  const texts = parts.filter(({ type }) => type === 'text')
  return texts.length > 0 && texts.every(({ metadata }) => metadata?.[TAG] === true)
}

/** The settings of the turn that answers a user message. */
export function mannerOf({ agent, model, system }: UserMessage): Manner {
  const { providerID, modelID, variant } = model
  return {
    agent,
    model: { providerID, modelID },
    ...(variant !== undefined && { variant }),
    ...(system !== undefined && { system }),
  }
}

function lastText(message: Message): string {
  return message.parts.findLast((part) => part.type === 'text')?.text ?? ''
}

/** Reads the last turn of a session. @throws {Error} when OpenCode does not answer. */
export async function readLastTurn(client: HostClient, session: string): Promise<LastTurn> {
  const { asked, said } = await readLastMessages(client, session)
  const user = asked?.info as UserMessage | undefined
  const answer = said?.info as AssistantMessage | undefined
  return {
    manner: user === undefined ? undefined : mannerOf(user),
    answer: said === undefined ? undefined : { id: said.info.id, text: lastText(said) },
    ended: endOf(answer, user),
    error:
      answer?.error === undefined
        ? undefined
        : (answer.error.data?.message ?? answer.error.name ?? OPENCODE_TEXT.unknownError),
  }
}

/** Reads the last message of the user, or of a plugin, and the last one of the model. @throws as `readLastTurn`. */
export async function readLastMessages(
  client: HostClient,
  session: string,
): Promise<{ readonly asked: Message | undefined; readonly said: Message | undefined }> {
  const read = await client.session.messages({ path: { id: session }, query: { limit: LAST_MESSAGES } })
  const messages = need(read, 'session.messages', session)
  const asked = messages.findLast(({ info }) => info.role === 'user')
  const said = messages.findLast(({ info }) => info.role === 'assistant')
  if (asked !== undefined || said?.info.role !== 'assistant') return { asked, said }
  // The steps of a long turn fill the messages that were read, and each names the message that it answers.
  const { data } = await client.session.message({ path: { id: session, messageID: said.info.parentID } })
  return { asked: data, said }
}

/** The settings of a session's last turn; undefined where it has no message that can be read. */
export async function lastManner(client: HostClient, session: string): Promise<Manner | undefined> {
  try {
    return (await readLastTurn(client, session)).manner
  } catch (error) {
    if (error instanceof HostRefusal && error.kind === 'unreadable') return undefined
    throw error
  }
}

function endOf(answer: AssistantMessage | undefined, user: UserMessage | undefined): LastTurn['ended'] {
  if (answer === undefined || answer.error !== undefined || answer.parentID !== user?.id) return 'failed'
  if (answer.summary === true) return 'failed'
  // After an error, the event and the idle session come before the error is on disk.
  if (answer.time.completed === undefined) return 'open'
  return answer.finish === undefined || answer.finish === 'tool-calls' ? 'failed' : 'well'
}

/** Sends a prompt without waiting for the answer. @throws {Error} when OpenCode refuses it. */
export async function sendPrompt(client: HostClient, session: string, body: PromptBody): Promise<void> {
  const { error } = await client.session.promptAsync({ path: { id: session }, body })
  if (error !== undefined) throw refused('session.promptAsync', error)
}

/**
 * Adds a message at the end of a running session, which its loop will answer. Returns the message's place.
 * @throws {Error} when OpenCode refuses it.
 */
export async function appendMessage(client: HostClient, session: string, body: PromptBody): Promise<MessagePlace> {
  const { info, parts } = need(
    await client.session.prompt({ path: { id: session }, body: { ...body, noReply: true } }),
    'session.prompt',
  )
  return { session, message: info.id, parts: parts.flatMap((part) => part.id ?? []) }
}

/** The place of a message of ours. */
export interface MessagePlace {
  readonly session: string
  readonly message: string
  readonly parts: readonly string[]
}

/** Empties a message, which cannot be removed while the session is busy (1.18.34). */
export async function emptyMessage(client: HostClient, place: MessagePlace): Promise<void> {
  for (const part of place.parts) {
    const { error } = await client._client.delete({ url: `${urlOf(place)}/part/${part}` })
    if (error !== undefined) throw refused('part.delete', error)
  }
}

/** Changes the text of a message that has one part. */
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

/** Creates a session below another one and returns its id. @throws {Error} when OpenCode refuses it. */
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
