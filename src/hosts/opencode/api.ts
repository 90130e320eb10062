/**
 * The part of OpenCode's client that this plugin uses, measured with 1.18.34; the plugin's own side is in `plugin-api.ts`.
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

/** A message of the model. */
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

/** The state of a tool call. */
export interface ToolState {
  readonly status?: string
  readonly input?: Readonly<Record<string, unknown>>
  /** Why the call failed, as the model reads it. */
  error?: string
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** A message with its parts. */
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

/** A permission rule of a session. */
export interface PermissionRule {
  readonly permission: string
  readonly pattern: string
  readonly action: 'allow' | 'deny' | 'ask'
}

/** The body of a prompt. */
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

/** An agent that OpenCode knows. */
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

/** A provider of models. */
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
    /** The MCP servers by name. */
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
