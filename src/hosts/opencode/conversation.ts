import { known } from '../../kernel/values.ts'
import type {
  AssistantMessage,
  HostClient,
  HostEvent,
  Message,
  Part,
  PromptBody,
  SessionInfo,
  UserMessage,
} from './api.ts'
import { errorDetail, HostRefusal, need } from './api.ts'

/** Each step of a turn is a message. */
const LAST_MESSAGES = 20

/** Of the sessions above one. */
const MAX_DEPTH = 50

/** Without a model, OpenCode chooses one. */
export type Manner = Pick<PromptBody, 'model' | 'variant' | 'system'> & Readonly<{ agent: string }>

const TAG = 'postflight-guard'

/** OpenCode's own agent that only plans (1.18.34). */
export const PLAN_AGENT = 'plan'

export function ownText(text: string): Part {
  return { type: 'text', text, synthetic: true, metadata: { [TAG]: true } }
}

export function isOwnMessage(parts: readonly Part[]): boolean {
  const texts = parts.filter(({ type }) => type === 'text')
  return texts.length > 0 && texts.every(({ metadata }) => metadata?.[TAG] === true)
}

/** A message from another plugin to the user: the model neither gets nor answers it (1.18.34). */
export function isNotice(parts: readonly Part[]): boolean {
  return parts.length > 0 && parts.every(({ ignored }) => ignored === true)
}

export function mannerOf({ agent, model, system }: UserMessage): Manner {
  const { providerID, modelID, variant } = model
  return known({ agent, model: { providerID, modelID }, variant, system })
}

export async function readLastTurn(client: HostClient, session: string) {
  const { asked, said } = await readLastMessages(client, session)
  const user = asked?.info as UserMessage | undefined
  const answer = said?.info as AssistantMessage | undefined
  // It ends the turn without an error of its own (1.18.34).
  const refusedTool = said?.parts.findLast(({ state }) => state?.status === 'error')
  return {
    manner: user === undefined ? undefined : mannerOf(user),
    answer: said && { id: said.info.id, text: said.parts.findLast(({ type }) => type === 'text')?.text ?? '' },
    ended: endOf(answer, user),
    error: answer?.error === undefined ? refusedTool?.state?.error : errorDetail(answer.error),
  }
}

export async function readLastMessages(client: HostClient, session: string) {
  const read = await client.session.messages({ path: { id: session }, query: { limit: LAST_MESSAGES } })
  const messages = need(read, 'session.messages', session)
  const said = messages.findLast(({ info }) => info.role === 'assistant')
  const answered = said?.info.role === 'assistant' ? said.info.parentID : undefined
  const asked = messages.findLast(
    ({ info: { id, role }, parts }) => role === 'user' && (id === answered || !isNotice(parts)),
  )
  if (asked !== undefined || answered === undefined) return { asked, said }
  // The steps of a long turn may fill the whole list.
  const { data } = await client.session.message({ path: { id: session, messageID: answered } })
  return { asked: data, said }
}

export async function lastManner(client: HostClient, session: string): Promise<Manner | undefined> {
  try {
    return (await readLastTurn(client, session)).manner
  } catch (error) {
    if (error instanceof HostRefusal && error.kind === 'unreadable') return undefined
    throw error
  }
}

/**
 * `failed`: also after a compaction (1.18.34: the session becomes idle). `open`: also if a message came after the answer,
 * as from another plugin. `well`: the only end that a guard may answer.
 */
function endOf(answer: AssistantMessage | undefined, user: UserMessage | undefined): 'open' | 'failed' | 'well' {
  if (answer === undefined || answer.error !== undefined || answer.summary === true) return 'failed'
  // After an error, the event comes before the error is on disk.
  if (answer.parentID !== user?.id || answer.time.completed === undefined) return 'open'
  return answer.finish === undefined || answer.finish === 'tool-calls' ? 'failed' : 'well'
}

export async function sendPrompt(client: HostClient, session: string, body: PromptBody): Promise<void> {
  const { error } = await client.session.promptAsync({ path: { id: session }, body })
  if (error !== undefined) throw new HostRefusal('session.promptAsync', error)
}

export async function appendMessage(client: HostClient, session: string, body: PromptBody) {
  const { info, parts } = need(
    await client.session.prompt({ path: { id: session }, body: { ...body, noReply: true } }),
    'session.prompt',
  )
  return { session, message: info.id, parts: parts.flatMap((part) => part.id ?? []) }
}

export type MessageLocation = Awaited<ReturnType<typeof appendMessage>>

/** OpenCode cannot remove a busy session's message (1.18.34). */
export async function emptyMessage(client: HostClient, location: MessageLocation): Promise<void> {
  for (const part of location.parts) {
    const { error } = await client._client.delete({ url: `${urlOf(location)}/part/${part}` })
    if (error !== undefined) throw new HostRefusal('part.delete', error)
  }
}

export async function rewriteMessage(client: HostClient, location: MessageLocation, text: string): Promise<void> {
  const [id] = location.parts
  const body = { id, sessionID: location.session, messageID: location.message, ...ownText(text) }
  const { error } = await client._client.patch({ url: `${urlOf(location)}/part/${id}`, body })
  if (error !== undefined) throw new HostRefusal('part.update', error)
}

/** The session must be idle. */
export async function removeMessage(client: HostClient, location: MessageLocation): Promise<void> {
  await client._client.delete({ url: urlOf(location) })
}

function urlOf({ session, message }: MessageLocation): string {
  return `/session/${session}/message/${message}`
}

export async function isBusy(client: HostClient, session: string): Promise<boolean> {
  return ((await client.session.status()).data?.[session]?.type ?? 'idle') !== 'idle'
}

export interface SessionFacts {
  info?: Readonly<{ parentID: string | undefined; bornMs: number | undefined }>
  /** Of the last message. */
  agent?: string
}

/** Tool hooks name neither agent nor parent. */
export class SessionTree<Facts extends SessionFacts = SessionFacts> {
  protected readonly client: HostClient
  protected readonly known = new Map<string, Facts>()

  constructor(client: HostClient) {
    this.client = client
  }

  /** Until OpenCode deletes the session. */
  of(session: string): Facts {
    const facts = this.known.get(session) ?? ({} as Facts)
    this.known.set(session, facts)
    return facts
  }

  /** Returns the deleted session. */
  noteEvent({ type, properties: { info } = {} }: HostEvent): string | undefined {
    if (info !== undefined && type === 'session.created') this.note(info)
    if (info === undefined || type !== 'session.deleted') return undefined
    this.forget(info.id)
    return info.id
  }

  /** The tool `plan_exit` changes the agent with a message of which no hook is called (1.18.34). */
  noteAgent(messages: readonly Message[]): UserMessage | undefined {
    const { info } = messages.findLast((one) => one.info.role === 'user' && !isNotice(one.parts)) ?? {}
    if (info?.role !== 'user') return undefined
    this.of(info.sessionID).agent = info.agent
    return info
  }

  async lineageOf(session: string): Promise<string[]> {
    const lineage = [session]
    for (let id = session; lineage.length <= MAX_DEPTH; ) {
      // A session created before this process has sent no event.
      const { parentID } =
        this.known.get(id)?.info ?? this.note(need(await this.client.session.get({ path: { id } }), 'session.get', id))
      if (parentID === undefined) break
      lineage.push(parentID)
      id = parentID
    }
    return lineage
  }

  async isMain(session: string): Promise<boolean> {
    return (await this.lineageOf(session)).length === 1
  }

  isBelow(session: string, ancestor: string): boolean {
    let current: string | undefined = session
    for (let depth = 0; depth < MAX_DEPTH && current !== undefined; depth++) {
      current = this.known.get(current)?.info?.parentID
      if (current === ancestor) return true
    }
    return false
  }

  /** OpenCode's own record also holds the text of a reverted diff (1.18.34). */
  private note({ id, parentID, time }: SessionInfo) {
    const info = { parentID, bornMs: time?.created }
    this.of(id).info = info
    return info
  }

  protected forget(session: string): void {
    this.known.delete(session)
  }
}
