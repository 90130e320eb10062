import { quote } from '../../kernel/text.ts'

/** Own types (1.18.34), because `@opencode-ai/plugin` may not be installed. */

/** The client never throws for an answer of the server. */
type Reply<T> = Promise<{ readonly data?: T; readonly error?: unknown }>

export type ModelName = Readonly<{ providerID: string; modelID: string }>

type HostError = { readonly name?: string; readonly data?: { readonly message?: string; readonly statusCode?: number } }

export function errorDetail({ name, data }: HostError): string {
  return data?.message ?? name ?? 'unknown error'
}

export interface UserMessage {
  readonly id: string
  readonly role: 'user'
  readonly sessionID: string
  readonly agent: string
  readonly model: ModelName & { readonly variant?: string }
  readonly system?: string
  readonly tools?: Readonly<Record<string, false>>
  readonly format?: unknown
}

export interface AssistantMessage {
  readonly id: string
  readonly role: 'assistant'
  readonly sessionID: string
  readonly parentID: string
  readonly error?: HostError
  readonly finish?: string
  /** ms since the epoch. */
  readonly time: { readonly completed?: number }
  readonly summary?: boolean
}

export interface Part {
  readonly id?: string
  readonly type: string
  text?: string
  readonly synthetic?: boolean
  readonly ignored?: boolean
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly tool?: string
  readonly callID?: string
  readonly state?: { readonly status?: string; error?: string; readonly metadata?: Readonly<Record<string, unknown>> }
}

export type Message = { readonly info: UserMessage | AssistantMessage; readonly parts: Part[] }

export interface SessionInfo {
  readonly id: string
  readonly parentID?: string
  readonly title?: string
  /** ms since the epoch. */
  readonly time?: { readonly created: number }
  readonly permission?: readonly PermissionRule[]
}

export type PermissionRule = Readonly<{ permission: string; pattern: string; action: 'allow' | 'deny' | 'ask' }>

export interface PromptBody {
  readonly agent?: string
  readonly model?: ModelName
  readonly variant?: string
  readonly system?: string
  readonly format?: unknown
  /** Enabling a tool would override the user's denial (1.18.34). */
  readonly tools?: Readonly<Record<string, false>>
  readonly noReply?: boolean
  readonly parts: readonly Part[]
}

type OfSession = { readonly path: { readonly id: string } }

type AgentInfo = Readonly<{ name: string; mode?: string; hidden?: boolean; model?: ModelName }>

/** The part of OpenCode's client that we use; its calls stay inside OpenCode's process. */
export interface HostClient {
  readonly session: {
    get(request: OfSession): Reply<SessionInfo>
    create(request: {
      body: { parentID: string; title: string; agent?: string | undefined; permission?: readonly PermissionRule[] }
    }): Reply<SessionInfo>
    messages(request: OfSession & { readonly query?: { readonly limit: number } }): Reply<Message[]>
    message(request: { readonly path: { readonly id: string; readonly messageID: string } }): Reply<Message>
    prompt(request: OfSession & { readonly body: PromptBody }): Reply<Message>
    promptAsync(request: OfSession & { readonly body: PromptBody }): Reply<unknown>
    abort(request: OfSession): Reply<boolean>
    status(): Reply<Readonly<Record<string, { readonly type: 'idle' | 'busy' | 'retry'; readonly message?: string }>>>
  }
  readonly app: {
    agents(): Reply<AgentInfo[]>
    log(request: { body: { service: string; level: 'info' | 'warn' | 'error'; message: string } }): Reply<boolean>
  }
  readonly config: {
    get(): Reply<{ readonly model?: string }>
    providers(): Reply<{ readonly providers: readonly { readonly id: string; readonly models: object }[] }>
  }
  /** Names of the built-in tools (no MCP). */
  readonly tool: { ids(): Reply<readonly string[]> }
  readonly mcp: { status(): Reply<Readonly<Record<string, unknown>>> }
  readonly tui: { showToast(request: { body: { title: string; message: string; variant: 'warning' } }): Reply<boolean> }
  readonly _client: {
    delete(request: { readonly url: string }): Reply<unknown>
    patch(request: { readonly url: string; readonly body: unknown }): Reply<unknown>
  }
}

export type PluginInput = Readonly<{ client: HostClient; directory: string }>

/** OpenCode does not wait for event handlers. */
export interface HostEvent {
  readonly type: string
  readonly properties?: {
    readonly sessionID?: string
    readonly info?: SessionInfo
    readonly error?: HostError
    readonly part?: Partial<Part>
    readonly status?: { readonly type: string; readonly message?: string }
  }
}

/** The session that the user interrupted. */
export function interruptedIn({ type, properties = {} }: HostEvent): string | undefined {
  const isInterruption = type === 'session.error' && properties.error?.name === 'MessageAbortedError'
  return isInterruption ? properties.sessionID : undefined
}

export interface ToolCall {
  readonly tool: string
  readonly sessionID: string
  readonly callID: string
  readonly args?: Readonly<Record<string, unknown>>
}

export interface ToolOutput {
  output: string
  metadata?: Readonly<Record<string, unknown>>
  /** An MCP tool's result, which has no `output` (1.18.34). */
  readonly content?: { readonly type: string; readonly text?: string }[]
}

/** Arguments given as plain JSON Schemas are all required (OpenCode 1.18.34). */
export interface PluginTool {
  readonly description: string
  readonly args: Readonly<Record<string, object>>
  execute(
    args: Readonly<Record<string, unknown>>,
    context: { readonly sessionID: string; readonly abort: AbortSignal },
  ): Promise<string>
}

export interface HostConfig {
  command?: Record<string, { template: string; description?: string }>
  provider?: Record<string, ProviderConfig>
}

export interface ProviderConfig {
  npm?: string
  options?: { apiKey?: unknown; fetch?: unknown }
  /** By OpenCode's names; `id` is the provider's. */
  models?: Readonly<Record<string, { readonly id?: string }>>
}

export interface ModelRequest {
  readonly sessionID: string
  /** `title` for a title's request. */
  readonly agent: string
  readonly model: { readonly providerID: string }
  readonly message: { readonly id: string }
}

type Hook<Input, Output = object> = (input: Input, output: Output) => Promise<void>

/** OpenCode waits for all but `event`; an error breaks the turn: see `safeHooks`. */
export interface Hooks {
  dispose?: () => Promise<void>
  event?: (input: { readonly event: HostEvent }) => Promise<void>
  config?: (config: HostConfig) => Promise<void>
  'chat.message'?: Hook<object, { readonly message: UserMessage; readonly parts: Part[] }>
  'command.execute.before'?: Hook<
    { readonly command: string; readonly sessionID: string; readonly arguments: string },
    { readonly parts: Part[] }
  >
  /** OpenCode checks `args` later. A throw refuses the call. */
  'tool.execute.before'?: Hook<Omit<ToolCall, 'args'>, { readonly args: unknown }>
  'tool.execute.after'?: Hook<ToolCall, ToolOutput>
  'shell.env'?: Hook<{ readonly cwd: string; readonly sessionID?: string }, { readonly env: Record<string, string> }>
  'experimental.chat.messages.transform'?: Hook<object, { readonly messages: Message[] }>
  'experimental.session.compacting'?: Hook<{ readonly sessionID: string }>
  'chat.headers'?: Hook<ModelRequest, { readonly headers: Record<string, string> }>
  'experimental.text.complete'?: Hook<{ readonly sessionID: string; readonly messageID: string }>
  'session.stopping'?: Hook<{ readonly sessionID: string }, StoppingOutput>
  'experimental.session.stopping'?: Hook<{ readonly sessionID: string }, StoppingOutput>
}

export type PluginHooks = Hooks & { tool?: Record<string, PluginTool> }

/** 1.18.34 has no such hook. Upstream proposals read `stop` or `continue`, and `message`. */
export type StoppingOutput = { stop?: boolean; continue?: boolean; message?: string }

export class HostRefusal extends Error {
  /** `unreadable`: OpenCode cannot read the messages (1.18.34: one has a JSON Schema `format`). */
  readonly kind: 'gone' | 'unreadable' | 'other'
  readonly session: string | undefined

  constructor(call: string, error: unknown, session?: string) {
    const { name, data, message } = (error ?? {}) as HostError & { message?: string }
    super(`OpenCode refused ${call} (${quote(data?.message ?? message ?? name ?? 'no answer')})`)
    this.kind = kindOf(call, name)
    this.session = session
  }
}

function kindOf(call: string, name: string | undefined): HostRefusal['kind'] {
  if (name === 'NotFoundError') return 'gone'
  return name === 'BadRequest' && call.startsWith('session.message') ? 'unreadable' : 'other'
}

export function isGone(error: unknown): boolean {
  return error instanceof HostRefusal && error.kind === 'gone'
}

export function need<T>({ data, error }: Awaited<Reply<T>>, call: string, session?: string): T {
  if (data === undefined || data === null) throw new HostRefusal(call, error, session)
  return data
}

/** For a session below another one: what that one may not do, as for OpenCode's `task` (1.18.34), and `denied` tools. */
export async function childPermission(client: HostClient, parent: string, denied: readonly string[]) {
  const { permission: rules = [] } = need(await client.session.get({ path: { id: parent } }), 'session.get', parent)
  const inherited = rules.filter(({ permission, action }) => action === 'deny' || permission === 'external_directory')
  return [...inherited, ...denied.map((permission) => ({ permission, pattern: '*', action: 'deny' }) as const)]
}

export async function knownAgents(client: HostClient): Promise<AgentInfo[]> {
  return need(await client.app.agents(), 'app.agents')
}

/** OpenCode would not answer a prompt with an unknown model. */
export async function knownModel(client: HostClient, name: string | undefined): Promise<ModelName | undefined> {
  const model = parseModel(name)
  if (model === undefined) return undefined
  const { providers } = need(await client.config.providers(), 'config.providers')
  const provider = providers.find(({ id }) => id === model.providerID)
  return provider !== undefined && Object.hasOwn(provider.models, model.modelID) ? model : undefined
}

/** OpenCode writes `provider/model`. */
export function parseModel(name: string | undefined): ModelName | undefined {
  const [, providerID, modelID] = /^([^/\s]+)\/(\S+)$/.exec(name ?? '') ?? []
  return providerID === undefined || modelID === undefined ? undefined : { providerID, modelID }
}

export function modelName({ providerID, modelID }: ModelName): string {
  return `${providerID}/${modelID}`
}

export const WORKFLOW_TOOL = 'workflow_run'

export const WORKFLOW_COMMAND = 'postflight-workflow'

/** Their value is the next word (`opencode --help`, 1.18.34). */
const WITH_VALUE = [
  ...['--log-level', '--port', '--hostname', '--mdns-domain', '--cors', '--model', '-m', '--session', '-s'],
  ...['--prompt', '--agent'],
]

/** `opencode run` ends when the main session is first idle (1.18.34). */
export function isOneShot(argv: readonly string[]): boolean {
  const words = argv.slice(2)
  const command = words.find((word, index) => !word.startsWith('-') && !WITH_VALUE.includes(words[index - 1] ?? ''))
  return command !== undefined && ['run', 'github'].includes(command)
}

/**
 * `opencode run` has no screen and ends before its log is written; `opencode --mini` shows no toasts, but prints stdout
 * above its prompt (1.18.34).
 */
export function screenOf(argv: readonly string[]) {
  if (isOneShot(argv)) return 'stderr'
  return argv.slice(2).includes('--mini') ? 'scrollback' : 'toast'
}
