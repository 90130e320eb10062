import { sleep } from '../disk/age.ts'
import type { HostClient, Message } from '../hosts/opencode/api.ts'
import { childPermission, errorDetail, knownAgents, knownModel, need, WORKFLOW_TOOL } from '../hosts/opencode/api.ts'
import { lastManner, ownText } from '../hosts/opencode/conversation.ts'
import { oneLine } from '../kernel/text.ts'
import { known } from '../kernel/values.ts'
import { DEFAULT_TIMEOUT_MS, LONGEST_TIMEOUT_MS } from '../setup/reactive/reactive-rule.ts'
import { detailOf, limitMemory, onGlobal, quietly } from './factory.ts'

/** In OpenCode's process a request may exceed five minutes (1.18.34). */

const DEFAULT_AGENT = 'general'
const MAX_INTERRUPTIONS = 20
const INTERRUPT_AGAIN_MS = 250
/** OpenCode may no longer answer. */
const STATUS_LIMIT_MS = 1_000

const INTERRUPTED: SpawnAnswer = { why: 'it was interrupted' }

/** A sub-agent to start. */
export interface SpawnRequest {
  /** The session below which the sub-agent runs. */
  readonly parentID: string
  readonly prompt: string
  /** The name of an agent (`general`). */
  readonly agent?: string | undefined
  /** `provider/model` (the agent's own, otherwise the parent's). */
  readonly model?: string | undefined
  /** The only tools that it may use (all of the agent's). What the user denied stays denied. */
  readonly tools?: readonly string[] | undefined
  /** The time limit in ms (30,000; at most an hour). */
  readonly timeoutMs?: number | undefined
  /** Raised to end the sub-agent early. */
  readonly signal?: AbortSignal | undefined
}

/** The last text of the sub-agent, or the reason that it has none. */
export type SpawnAnswer = { readonly text: string } | { readonly why: string }

/**
 * Starts a sub-agent in a session of its own and returns its last text. It never throws. At the time limit, or when
 * `signal` is raised, the sub-agent is interrupted. `client` is the one that OpenCode gives to a plugin.
 */
export async function spawnAgent(client: object, request: SpawnRequest): Promise<SpawnAnswer> {
  // A timer of more than 24 days would end at once.
  const timeoutMs = Math.min(request.timeoutMs ?? DEFAULT_TIMEOUT_MS, LONGEST_TIMEOUT_MS)
  const host = client as HostClient
  // `AbortSignal.timeout` throws for a time that is already over, and lets a script end that only waits for it.
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), timeoutMs)
  const end = AbortSignal.any([limit.signal, ...(request.signal === undefined ? [] : [request.signal])])
  const child: { session?: string } = {}
  const turn = converse(host, request, child, end)
  try {
    const answer = await Promise.race([turn, raised(end)])
    if (answer !== undefined) return answer
    if (!limit.signal.aborted) return INTERRUPTED
    const retry = await retryOf(host, child.session)
    const error = retry === undefined ? '' : `; its model was asked again after an error (${oneLine(retry, 200)})`
    return { why: `no answer within ${timeoutMs / 1000} s${error}` }
  } catch (error) {
    return { why: detailOf(error) }
  } finally {
    clearTimeout(timer)
    if (end.aborted && child.session !== undefined) void interrupt(host, child.session, turn)
  }
}

function raised(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined))
  })
}

async function converse(client: HostClient, request: SpawnRequest, child: { session?: string }, end: AbortSignal) {
  const { parentID, prompt, tools } = request
  const chosen = await chooseManner(client, request)
  if ('why' in chosen) return chosen
  const permission = await childPermission(client, parentID, await deniedTools(client, tools))
  if (end.aborted) return INTERRUPTED
  const title = `Sub-agent: ${oneLine(prompt, 60)}`
  const { id } = need(await client.session.create({ body: { parentID, title, permission } }), 'session.create')
  noteSpawned(id)
  child.session = id
  if (end.aborted) return INTERRUPTED
  const body = { ...chosen, parts: [ownText(prompt)] }
  return answerOf(need(await client.session.prompt({ path: { id }, body }), 'session.prompt'))
}

/** OpenCode would not answer an unknown name. */
async function chooseManner(client: HostClient, { parentID, agent, model }: SpawnRequest) {
  const agents = await knownAgents(client)
  const found = agents.find(({ name }) => name === (agent ?? DEFAULT_AGENT))
  if (found === undefined && agent !== undefined) {
    const names = agents.flatMap(({ name, hidden }) => (hidden === true ? [] : oneLine(name, 40)))
    return { why: `OpenCode has no agent "${oneLine(agent, 80)}" (it has ${names.join(', ')})` }
  }
  const named = await knownModel(client, model)
  if (model !== undefined && named === undefined) return { why: `OpenCode has no model "${oneLine(model, 80)}"` }
  const parent = await lastManner(client, parentID)
  // OpenCode would take its default model, not the parent's (1.18.34).
  const isParents = named === undefined && found?.model === undefined
  return known({
    agent: found?.name ?? parent?.agent,
    model: isParents ? parent?.model : named,
    variant: isParents ? parent?.variant : undefined,
  })
}

function answerOf({ info, parts }: Message): SpawnAnswer {
  const error = info.role === 'assistant' ? info.error : undefined
  if (error !== undefined) return { why: errorDetail(error) }
  const last = parts.findLast(({ type, text = '' }) => type === 'text' && text.trim() !== '')
  return last?.text === undefined ? { why: 'its last message has no text' } : { text: last.text }
}

async function retryOf(client: HostClient, session: string | undefined): Promise<string | undefined> {
  if (session === undefined) return undefined
  const reply = await Promise.race([client.session.status(), sleep(STATUS_LIMIT_MS)])
  const status = reply?.data?.[session]
  return status?.type === 'retry' ? status.message : undefined
}

/** Never throws. A session that was just prompted is not busy yet, so we repeat it. */
async function interrupt(client: HostClient, session: string, turn: Promise<unknown>): Promise<void> {
  const end = () => 'over'
  const over = turn.then(end, end)
  for (let count = 0; count < MAX_INTERRUPTIONS; count++) {
    await quietly(() => client.session.abort({ path: { id: session } }))
    const pause = new Promise((resolve) => setTimeout(resolve, INTERRUPT_AGAIN_MS).unref())
    if ((await Promise.race([over, pause])) === 'over') return
  }
}

/** Nested sub-agents would outlive the time limit. */
const ALWAYS = ['question', 'task', WORKFLOW_TOOL]
/** OpenCode allows and denies these together (1.18.34). */
const EDITING = ['edit', 'write', 'apply_patch']

export async function deniedTools(client: HostClient, allowed: readonly string[] | undefined): Promise<string[]> {
  return [...new Set([...ALWAYS, ...(allowed === undefined ? [] : await unlisted(client, allowed))])]
}

async function unlisted(client: HostClient, allowed: readonly string[]): Promise<string[]> {
  const known = [...need(await client.tool.ids(), 'tool.ids'), ...EDITING]
  const edits = EDITING.some((name) => allowed.includes(name))
  const servers = Object.keys(need(await client.mcp.status(), 'mcp.status')).map((name) => name.replace(/[^\w-]/g, '_'))
  return [
    ...known.filter((name) => (EDITING.includes(name) ? !edits : !allowed.includes(name))),
    // A server's tools are not listed, but begin with its name.
    ...servers.filter((name) => !allowed.some((tool) => tool.startsWith(`${name}_`))).map((name) => `${name}_*`),
  ]
}

/** No rule may start another agent for these. */
const spawned = () => onGlobal('spawned', () => new Set<string>())

export function noteSpawned(session: string): void {
  limitMemory(spawned().add(session))
}

export function isSpawned(session: string): boolean {
  return spawned().has(session)
}
