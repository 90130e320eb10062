import { OPENCODE_TEXT } from './opencode-messages.ts'

/**
 * The part of OpenCode's client that this plugin uses, and its side of a plugin: input, tools and hooks. Measured with 1.18.34.
 * The types are our own, because the plugin must load where `@opencode-ai/plugin` is not installed.
 */

/** A value or an error: the client never throws for an answer of the server. */
export type Reply<T> = Promise<{ readonly data?: T; readonly error?: unknown }>

/** A model by OpenCode's names. */
export interface ModelName {
  readonly providerID: string
  readonly modelID: string
}

/** The error with which a message's turn ended. */
export interface HostError {
  readonly name?: string
  readonly data?: { readonly message?: string; readonly statusCode?: number }
}

/** A message of the user, or one of ours. Its settings apply to the turn that answers it. */
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
  /** The user message that it answers. */
  readonly parentID: string
  readonly error?: HostError
  /** The reason for which the model stopped: `stop`, `tool-calls`, `length`, … */
  readonly finish?: string
  /** ms since the epoch. */
  readonly time: { readonly completed?: number }
  /** True for the summary that a compaction writes. */
  readonly summary?: boolean
}

/** A part of a message: a text, a tool call, or something else. */
export interface Part {
  readonly id?: string
  readonly type: string
  text?: string
  readonly synthetic?: boolean
  readonly metadata?: Readonly<Record<string, unknown>>
  /** The tool's name, for a tool call. */
  readonly tool?: string
  readonly callID?: string
  readonly state?: ToolState
}

export interface ToolState {
  readonly status?: string
  readonly input?: Readonly<Record<string, unknown>>
  /** Why the call failed, as the model reads it. */
  error?: string
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface Message {
  readonly info: UserMessage | AssistantMessage
  readonly parts: Part[]
}

/** A session. One with a parent was started by that session. */
export interface SessionInfo {
  readonly id: string
  readonly parentID?: string
  readonly title?: string
  readonly directory?: string
  /** ms since the epoch. */
  readonly time?: { readonly created: number }
}

export interface PermissionRule {
  readonly permission: string
  readonly pattern: string
  readonly action: 'allow' | 'deny' | 'ask'
}

export interface PromptBody {
  readonly agent?: string
  readonly model?: ModelName
  readonly variant?: string
  readonly system?: string
  readonly format?: unknown
  /** Tools that are switched off (false). A tool that is switched on would run although the user denied it (1.18.34). */
  readonly tools?: Readonly<Record<string, false>>
  /** True to add the message without a turn that answers it. */
  readonly noReply?: boolean
  readonly parts: readonly Part[]
}

interface OfSession {
  readonly path: { readonly id: string }
}

export interface AgentInfo {
  readonly name: string
  readonly mode?: string
  readonly hidden?: boolean
  readonly model?: ModelName
}

/** The state of a session. With `retry`, a request to the model failed and is repeated: `message` says why. */
export interface SessionStatus {
  readonly type: 'idle' | 'busy' | 'retry'
  readonly message?: string
}

export interface ProviderInfo {
  readonly id: string
  readonly models: Readonly<Record<string, unknown>>
}

/** The client that a plugin is given: it talks to OpenCode inside the process. */
export interface HostClient {
  readonly session: {
    get(request: OfSession): Reply<SessionInfo>
    create(request: {
      readonly body: {
        readonly parentID: string
        readonly title: string
        readonly agent?: string | undefined
        readonly permission?: readonly PermissionRule[]
      }
    }): Reply<SessionInfo>
    messages(request: OfSession & { readonly query?: { readonly limit: number } }): Reply<Message[]>
    message(request: { readonly path: { readonly id: string; readonly messageID: string } }): Reply<Message>
    prompt(request: OfSession & { readonly body: PromptBody }): Reply<Message>
    promptAsync(request: OfSession & { readonly body: PromptBody }): Reply<unknown>
    abort(request: OfSession): Reply<boolean>
    /** Sessions that are not idle. */
    status(): Reply<Readonly<Record<string, SessionStatus>>>
  }
  readonly app: {
    agents(): Reply<AgentInfo[]>
    log(request: {
      readonly body: { readonly service: string; readonly level: 'info' | 'warn' | 'error'; readonly message: string }
    }): Reply<boolean>
  }
  readonly config: {
    get(): Reply<{ readonly model?: string }>
    /** The providers that can be used here, with their models by id. */
    providers(): Reply<{ readonly providers: readonly ProviderInfo[] }>
  }
  readonly tool: {
    /** The names of all tools but those of MCP servers. */
    ids(): Reply<readonly string[]>
  }
  readonly mcp: {
    status(): Reply<Readonly<Record<string, unknown>>>
  }
  readonly tui: {
    showToast(request: {
      readonly body: { readonly title: string; readonly message: string; readonly variant: 'warning' }
    }): Reply<boolean>
  }
  /** Calls for which the client has no methods of its own. */
  readonly _client: {
    delete(request: { readonly url: string }): Reply<unknown>
    patch(request: { readonly url: string; readonly body: unknown }): Reply<unknown>
  }
}

/** The input of the plugin, which OpenCode calls once for each project folder. */
export interface PluginInput {
  readonly client: HostClient
  /** The folder that OpenCode runs in. */
  readonly directory: string
}

/** An event. OpenCode does not wait for its handlers. */
export interface HostEvent {
  readonly type: string
  readonly properties?: {
    readonly sessionID?: string
    readonly info?: SessionInfo
    readonly error?: HostError
    readonly part?: Partial<Part>
    /** Of `session.status`. */
    readonly status?: { readonly type: string; readonly message?: string }
  }
}

export interface ToolCall {
  readonly tool: string
  readonly sessionID: string
  readonly callID: string
  readonly args?: Readonly<Record<string, unknown>>
}

export interface ToolOutput {
  title?: string
  output: string
  metadata?: Readonly<Record<string, unknown>>
  /** The result of an MCP server's tool, which has no `output` (1.18.34). */
  readonly content?: { readonly type: string; readonly text?: string }[]
}

export interface ToolContext {
  readonly sessionID: string
  readonly messageID: string
  readonly agent: string
  /** Raised when the user interrupts the turn. */
  readonly abort: AbortSignal
}

/** A tool of the plugin. Arguments given as plain JSON Schemas are all required (OpenCode 1.18.34). */
export interface PluginTool {
  readonly description: string
  readonly args: Readonly<Record<string, object>>
  execute(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<string>
}

/** The part of OpenCode's configuration to which the plugin adds. */
export interface HostConfig {
  command?: Record<string, { template: string; description?: string }>
  provider?: Record<string, ProviderConfig>
}

export interface ProviderConfig {
  /** The package that talks to it, for a provider that OpenCode does not know. */
  npm?: string
  options?: { apiKey?: unknown; fetch?: unknown }
  /** Its models by OpenCode's names; `id` is the provider's own name of one. */
  models?: Readonly<Record<string, { readonly id?: string }>>
}

/** A request to a model, as hooks see it. */
export interface ModelRequest {
  readonly sessionID: string
  /** The agent; `title` for the request of a session's title. */
  readonly agent: string
  readonly model: { readonly providerID: string; readonly id?: string }
  /** The user message that is answered. */
  readonly message: { readonly id: string }
}

/** The hooks. OpenCode waits for all but `event`, and an error in one breaks the turn: see `safeHook`. */
export interface Hooks {
  dispose?(): Promise<void>
  event?(input: { readonly event: HostEvent }): Promise<void>
  config?(config: HostConfig): Promise<void>
  tool?: Record<string, PluginTool>
  'chat.message'?(input: object, output: { readonly message: UserMessage; readonly parts: Part[] }): Promise<void>
  'command.execute.before'?(
    input: { readonly command: string; readonly sessionID: string; readonly arguments: string },
    output: { readonly parts: Part[] },
  ): Promise<void>
  /** `args` may be anything here: OpenCode checks them later. They are changed in place. A throw refuses the call. */
  'tool.execute.before'?(
    input: { readonly tool: string; readonly sessionID: string; readonly callID: string },
    output: { readonly args: unknown },
  ): Promise<void>
  'tool.execute.after'?(input: ToolCall, output: ToolOutput): Promise<void>
  'shell.env'?(
    input: { readonly cwd: string; readonly sessionID?: string },
    output: { readonly env: Record<string, string> },
  ): Promise<void>
  'experimental.chat.messages.transform'?(input: object, output: { readonly messages: Message[] }): Promise<void>
  /** Comes just before the request that writes a compaction's summary. */
  'experimental.session.compacting'?(input: { readonly sessionID: string }, output: object): Promise<void>
  'chat.headers'?(input: ModelRequest, output: { readonly headers: Record<string, string> }): Promise<void>
  'experimental.text.complete'?(
    input: { readonly sessionID: string; readonly messageID: string },
    output: { text: string },
  ): Promise<void>
  'session.stopping'?(input: { readonly sessionID: string }, output: StoppingOutput): Promise<void>
  'experimental.session.stopping'?(input: { readonly sessionID: string }, output: StoppingOutput): Promise<void>
}

/**
 * The output of a stop hook. 1.18.34 has no such hook; of the two that are proposed upstream, one reads `stop`, the other
 * `continue`, and both read `message`.
 */
export interface StoppingOutput {
  stop?: boolean
  continue?: boolean
  message?: string
}

/** The reading of messages. A refusal of these concerns one conversation and lasts (see `HostRefusal.kind`). */
const READING_CALLS = ['session.messages', 'session.message']

/** A request that OpenCode refused: its client answers with an error and does not throw. */
export class HostRefusal extends Error {
  /**
   * `gone`: the session or the message was deleted, so there is nothing left to guard. `unreadable`: OpenCode cannot read a
   * conversation's messages (1.18.34: where one has a `format` with a JSON Schema).
   */
  readonly kind: 'gone' | 'unreadable' | 'other'
  readonly session: string | undefined

  constructor(message: string, kind: HostRefusal['kind'], session: string | undefined) {
    super(message)
    this.kind = kind
    this.session = session
  }
}

/** True for the refusal of a request about a session that was deleted. */
export function isGone(error: unknown): boolean {
  return error instanceof HostRefusal && error.kind === 'gone'
}

/** The value of a reply. @throws {HostRefusal} when it has none. */
export function need<T>(
  reply: { readonly data?: T; readonly error?: unknown },
  call: string,
  session: string | undefined = undefined,
): T {
  if (reply.data === undefined || reply.data === null) throw refused(call, reply.error, session)
  return reply.data
}

export function refused(call: string, error: unknown, session: string | undefined = undefined): HostRefusal {
  const { name, data, message } = (error ?? {}) as { name?: string; data?: { message?: string }; message?: string }
  const words = OPENCODE_TEXT.refused(call, data?.message ?? message ?? name ?? OPENCODE_TEXT.noReply)
  return new HostRefusal(words, kindOf(call, name), session)
}

function kindOf(call: string, name: string | undefined): HostRefusal['kind'] {
  if (name === 'NotFoundError') return 'gone'
  return name === 'BadRequest' && READING_CALLS.includes(call) ? 'unreadable' : 'other'
}
