import type { HostClient, HostError, Message, Part, SessionInfo, UserMessage } from './api.ts'

/** OpenCode's side of a plugin: its input, its tools and its hooks. Types alone; the client is in `api.ts`. */

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

/** A tool call that has ended. */
export interface ToolCall {
  readonly tool: string
  readonly sessionID: string
  readonly callID: string
  readonly args?: Readonly<Record<string, unknown>>
}

/** The result of a tool call. */
export interface ToolOutput {
  title?: string
  output: string
  metadata?: Readonly<Record<string, unknown>>
  /** The result of an MCP server's tool, which has no `output` (1.18.34). */
  readonly content?: { readonly type: string; readonly text?: string }[]
}

/** The context of a call of one of the plugin's tools. */
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

/** The configuration of a provider. */
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
