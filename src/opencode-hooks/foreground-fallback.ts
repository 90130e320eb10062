import * as z from 'zod/mini'
import type { HostConfig, HostEvent, ProviderConfig, UserMessage } from '../hosts/opencode/api.ts'
import { isOneShot, modelName, parseModel } from '../hosts/opencode/api.ts'
import { SessionTree } from '../hosts/opencode/conversation.ts'
import { attempt, jsonObjectIn } from '../kernel/values.ts'
import { factory, limitMemory } from './factory.ts'
import * as switching from './model-switch.ts'

/** Options of the foreground fallback. */
export interface ForegroundFallbackOptions {
  /** For each agent the models, `provider/model`, that are tried in turn when its model is rate-limited. */
  readonly chains: Readonly<Record<string, readonly string[]>>
  /** Further regular expressions, case-insensitive, by which an error is known to be a rate limit. */
  readonly patterns?: readonly string[] | undefined
}

const model = z.string().check(z.refine((name) => parseModel(name) !== undefined, 'not "provider/model"'))
const isRegularExpression = (text: string): boolean => attempt(() => new RegExp(text)) !== undefined
const pattern = z.string().check(z.refine(isRegularExpression, 'not a regular expression'))

export const FOREGROUND_FALLBACK: z.ZodMiniType<ForegroundFallbackOptions> = z.strictObject({
  chains: z.record(z.string(), z.array(model).check(z.minLength(1))),
  patterns: z.optional(z.array(pattern)),
})

/**
 * Creates hooks that continue a rate-limited main conversation with the next model of its agent's chain. Each model is
 * tried once for each message; after the last one OpenCode's own retries and its error follow.
 */
export const createForegroundFallbackHook = factory(
  'foreground fallback',
  ({ client, reporter }, { chains, patterns = [] }: ForegroundFallbackOptions) => {
    const sessions = new SessionTree(client)
    const create = isOneShot(process.argv) ? createProviderFetch : switching.createModelSwitch
    const fallback = create({ client, reporter, sessions, chains, rateLimitIn: switching.rateLimitReader(patterns) })
    return {
      async event({ event }) {
        sessions.noteEvent(event)
        await fallback.onEvent(event)
      },
      async 'chat.message'(_input, { message }) {
        sessions.of(message.sessionID).agent = message.agent
        fallback.noteMessage(message)
      },
      async 'experimental.chat.messages.transform'(_input, { messages }) {
        sessions.noteAgent(messages)
      },
      async config(config) {
        fallback.install?.(config)
      },
    }
  },
)

/** Headers of OpenCode 1.18.34. */
const SESSION_HEADER = 'x-session-id'
const PARENT_HEADER = 'x-parent-session-id'

type Conversation = { readonly agent: string; readonly asked: string; current: string; readonly tried: Set<string> }
type Fetch = (input: unknown, init?: RequestInit) => Promise<Response>

/** An abort would end `opencode run`, so `fetch` itself repeats a request. */
function createProviderFetch({ reporter, sessions, chains, rateLimitIn }: switching.FallbackPorts) {
  const conversations = new Map<string, Conversation>()
  const notified = new Set<string>()

  function noteMessage({ sessionID, agent, model }: UserMessage): void {
    const asked = modelName(model)
    const before = conversations.get(sessionID)
    const current = before?.asked === asked ? before.current : asked
    limitMemory(conversations.set(sessionID, { agent, asked, current, tried: new Set([current]) }))
  }

  /** Says once that the rest of the chain cannot be used. */
  async function onEvent(event: HostEvent): Promise<void> {
    const session = event.properties?.sessionID ?? ''
    const chain = chains[sessions.of(session).agent ?? '']
    if (chain === undefined || notified.has(session) || rateLimitIn(event) === undefined) return
    notified.add(session)
    if (!(await sessions.isMain(session))) return
    const tried = conversations.get(session)?.tried ?? new Set<string>()
    const left = chain.filter((name) => !tried.has(name))
    if (left.length === 0) return reporter.notice(switching.chainExhausted(tried))
    const untried = left.map(switching.shownModel).join(', ')
    reporter.notice(
      `postflight-guard: the model is rate-limited, and \`opencode run\` can switch only to a model of the same provider, which your configuration describes (npm or options.apiKey). Not tried: ${untried}.`,
    )
  }

  /** OpenCode's sign-in plugins set a `fetch`, which ours would replace. */
  function install(config: HostConfig): void {
    for (const [id, provider] of Object.entries(config.provider ?? {})) {
      const isInChain = Object.values(chains)
        .flat()
        .some((name) => parseModel(name)?.providerID === id)
      if (!isInChain || (provider.npm === undefined && typeof provider.options?.apiKey !== 'string')) continue
      provider.options = { ...provider.options, fetch: fetchFor(id, provider) }
    }
  }

  function fetchFor(providerID: string, provider: ProviderConfig): Fetch {
    const base = (provider.options?.fetch ?? fetch) as Fetch
    const idOf = (name: string): string => {
      const { modelID = name } = parseModel(name) ?? {}
      return provider.models?.[modelID]?.id ?? modelID
    }
    return async (input, init) => {
      const headers = new Headers(init?.headers)
      const conversation = conversations.get(headers.get(SESSION_HEADER) ?? '')
      const body = typeof init?.body === 'string' ? jsonObjectIn(init.body) : {}
      // Titles use another model; sub-agents belong to their caller's turn.
      if (conversation === undefined || headers.has(PARENT_HEADER) || body.model !== idOf(conversation.asked)) {
        return base(input, init)
      }
      const chain = chains[conversation.agent] ?? []
      const sendTo = (name: string): Promise<Response> =>
        base(
          input,
          name === conversation.asked ? init : { ...init, body: JSON.stringify({ ...body, model: idOf(name) }) },
        )
      for (;;) {
        const response = await sendTo(conversation.current)
        if (response.status !== switching.TOO_MANY_REQUESTS) return response
        const next = chain.find((name) => parseModel(name)?.providerID === providerID && !conversation.tried.has(name))
        if (next === undefined) return response
        await response.body?.cancel()
        const limited = switching.shownModel(conversation.current)
        reporter.notice(
          `postflight-guard: ${limited} is rate-limited, so ${switching.shownModel(next)} answers in its place.`,
        )
        conversation.tried.add(next)
        conversation.current = next
      }
    }
  }

  return { noteMessage, onEvent, install }
}
