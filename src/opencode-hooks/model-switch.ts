import { sleep } from '../disk/age.ts'
import type { HostClient, HostEvent, ModelName, Part, UserMessage } from '../hosts/opencode/api.ts'
import { interruptedIn, knownModel, modelName } from '../hosts/opencode/api.ts'
import { isBusy, readLastMessages, type SessionTree, sendPrompt } from '../hosts/opencode/conversation.ts'
import { oneLine } from '../kernel/text.ts'
import { known } from '../kernel/values.ts'
import { limitMemory, type Reporter } from './factory.ts'

/** The process must outlive the abort (`opencode serve`, the terminal interface). */

const WORDS: readonly RegExp[] = [
  /\b429\b/,
  /rate[- _]?limit/i,
  /too[ _]many[ _]requests/i,
  // OpenCode's own words for its free models (1.18.34): "Free usage exceeded, subscribe to Go".
  /\b(?:usage|request|token|quota) limit|usage exceeded/i,
  /quota (?:exceeded|exhausted|reached)|(?:exceeded|out of|insufficient)[ _](?:your |the )?(?:current )?quota/i,
  /resource[ _]?(?:has been )?exhausted/i,
  /rate increased too quickly|throttl/i,
  /overloaded/i,
]

export const TOO_MANY_REQUESTS = 429

export function rateLimitTest(further: readonly string[]) {
  const patterns = [...WORDS, ...further.map((one) => new RegExp(one, 'i'))]
  return (text: string | undefined) => text !== undefined && patterns.some((pattern) => pattern.test(text))
}

export function rateLimitReader(further: readonly string[]) {
  const isRateLimit = rateLimitTest(further)
  return ({ type, properties: { status, error } = {} }: HostEvent) => {
    if (type === 'session.status' && status?.type === 'retry' && isRateLimit(status.message)) return 'retrying'
    // Then OpenCode compacts. Some providers call this a token limit.
    if (type !== 'session.error' || error?.name === 'ContextOverflowError') return undefined
    return error?.data?.statusCode === TOO_MANY_REQUESTS || isRateLimit(error?.data?.message) ? 'failed' : undefined
  }
}

export function shownModel(name: string): string {
  return oneLine(name, 120)
}

export function chainExhausted(tried: Iterable<string>): string {
  return `postflight-guard: no model of the chain is left (${[...tried].map(shownModel).join(', ')}). OpenCode repeats the request a few more times.`
}

/** OpenCode reports one limit in several events. */
const SAME_LIMIT_MS = 5_000
const ABORT_LIMIT_MS = 10_000
const LOOK_AGAIN_MS = 50

const SENDABLE = ['text', 'file', 'agent', 'subtask']

interface Conversation {
  readonly tried: Set<string>
  handledMs: number
  /** `over`: the user interrupted it, or no model is left. */
  stage: 'open' | 'switching' | 'resending' | 'over'
}

export interface FallbackPorts {
  readonly client: HostClient
  readonly reporter: Reporter
  readonly sessions: SessionTree
  readonly chains: Readonly<Record<string, readonly string[]>>
  readonly rateLimitIn: ReturnType<typeof rateLimitReader>
}

export function createModelSwitch({ client, reporter, sessions, chains, rateLimitIn }: FallbackPorts) {
  const conversations = new Map<string, Conversation>()

  function noteMessage({ sessionID, model }: UserMessage): void {
    const before = conversations.get(sessionID)
    if (before?.stage === 'resending') before.stage = 'open'
    else conversations.set(sessionID, { tried: new Set([modelName(model)]), handledMs: 0, stage: 'open' })
    limitMemory(conversations)
  }

  async function onEvent(event: HostEvent): Promise<void> {
    const { sessionID = '' } = event.properties ?? {}
    const conversation = conversations.get(sessionID)
    if (conversation === undefined) return
    const { stage, handledMs } = conversation
    if (interruptedIn(event) !== undefined) {
      // Our own abort may send this event too.
      if (stage === 'open') conversation.stage = 'over'
      return
    }
    const limit = rateLimitIn(event)
    if (limit === undefined || stage === 'switching' || stage === 'over') return
    if (stage === 'resending' && Date.now() - handledMs < SAME_LIMIT_MS) return
    conversation.stage = 'switching'
    try {
      await switchModel(sessionID, conversation, limit)
    } finally {
      if (conversation.stage === 'switching') conversation.stage = 'open'
    }
  }

  async function switchModel(session: string, conversation: Conversation, limit: 'retrying' | 'failed'): Promise<void> {
    const chain = chains[sessions.of(session).agent ?? '']
    if (chain === undefined || !(await sessions.isMain(session))) return
    const { asked } = await readLastMessages(client, session)
    const parts = sendableParts(asked?.parts ?? [])
    // OpenCode's message for a compaction has no text.
    if (asked?.info.role !== 'user' || parts.length === 0) return
    const model = await nextModel(chain, conversation.tried)
    if (model === undefined) {
      conversation.stage = 'over'
      return reporter.notice(chainExhausted(conversation.tried))
    }
    const { info } = asked
    const wasBusy = await interrupt(session)
    if (limit === 'retrying' && !wasBusy) {
      // The user interrupted it: 1.18.34 sends no error event before a retry.
      conversation.stage = 'over'
      return
    }
    conversation.handledMs = Date.now()
    conversation.stage = 'resending'
    const { agent, system, tools, format } = info
    try {
      await sendPrompt(client, session, { agent, model, ...known({ system, tools, format }), parts })
    } catch (error) {
      conversation.stage = 'open'
      throw error
    }
    const limited = shownModel(modelName(info.model))
    const other = shownModel(modelName(model))
    reporter.notice(`postflight-guard: ${limited} is rate-limited, so the last message was sent again with ${other}.`)
  }

  async function nextModel(chain: readonly string[], tried: Set<string>): Promise<ModelName | undefined> {
    for (const name of chain) {
      if (tried.has(name)) continue
      tried.add(name)
      const model = await knownModel(client, name)
      if (model !== undefined) return model
      reporter.notice(`postflight-guard: OpenCode has no model ${shownModel(name)}, so the fallback skips it.`)
    }
    return undefined
  }

  async function interrupt(session: string): Promise<boolean> {
    if (!(await isBusy(client, session))) return false
    await client.session.abort({ path: { id: session } })
    const deadline = Date.now() + ABORT_LIMIT_MS
    while (Date.now() < deadline && (await isBusy(client, session))) await sleep(LOOK_AGAIN_MS)
    return true
  }

  return { noteMessage, onEvent, install: undefined }
}

/** OpenCode adds its own parts (a file's text) again. */
function sendableParts(parts: readonly Part[]): Part[] {
  const sent = parts.filter(({ type }) => SENDABLE.includes(type))
  const given = sent.filter(({ synthetic, metadata }) => synthetic !== true || metadata !== undefined)
  return (given.length > 0 ? given : sent).map((part) => {
    const { id: _id, messageID: _message, sessionID: _session, ...rest } = part as Part & Record<string, unknown>
    return rest as unknown as Part
  })
}
