import { withoutSleep } from '../disk/lock.ts'
import { writeAll } from '../disk/process-output.ts'
import { type Hooks, type HostClient, HostRefusal, isGone, screenOf, type ToolOutput } from '../hosts/opencode/api.ts'
import { asPostflightError, messageOf } from '../kernel/errors.ts'
import { quote } from '../kernel/text.ts'
import { appendRecorded } from '../project/journal.ts'
import { findRoots, startFolders } from '../project/root.ts'

const PRODUCT = 'postflight-guard'
export const TEXT_TAG = `[${PRODUCT}]`

/** The input of a factory: OpenCode gives it to every plugin. */
export interface HookContext {
  /** OpenCode's client. */
  readonly client: object
  /** The folder that OpenCode runs in. */
  readonly directory: string
}

interface FactoryPorts {
  readonly client: HostClient
  readonly reporter: Reporter
  readonly isActing: () => boolean
  readonly findRoots: (conversation: string) => readonly string[]
}

function portsOf(context: HookContext & Partial<Omit<FactoryPorts, 'client'>>): FactoryPorts {
  const { directory } = context
  const client = context.client as HostClient
  const search = (): readonly string[] => findRoots(startFolders({ environment: process.env, cwd: directory }))
  return {
    client,
    reporter: context.reporter ?? createReporter(client, search),
    isActing: context.isActing ?? (() => true),
    findRoots: context.findRoots ?? search,
  }
}

/**
 * The hooks of a factory, as other plugins see them. OpenCode's own types of the parameters differ from version to
 * version, and a plugin's author has one of them, so they are left open here.
 */
export type FactoryHooks<H> = {
  // biome-ignore lint/suspicious/noExplicitAny: only `any` fits the parameters of every version.
  readonly [Point in keyof H]: (...words: any[]) => Promise<void>
}

type Given<O> = undefined extends O ? [options?: O] : [options: O]

export function factory<O, H extends Hooks>(
  name: string,
  create: (ports: FactoryPorts, options: O) => H,
): (context: HookContext, ...given: Given<O>) => FactoryHooks<H> {
  return (context, ...[options]) => {
    const ports = portsOf(context)
    return safeHooks(create(ports, options as O), `${name}, `, ports)
  }
}

export class RefusedCall extends Error {}

/** In OpenCode 1.18.34 an error in a hook ends the turn, and an error in the event handler ends the server. */
export function safeHooks<H extends object>(hooks: H, prefix: string, { reporter, isActing }: FactoryPorts) {
  const safe = Object.entries(hooks).map(([point, hook]: [string, AnyHook]) => {
    const safeHook: AnyHook = async (...words) => {
      try {
        if (isActing()) await hook(...words)
      } catch (error) {
        if (error instanceof RefusedCall) throw error
        reporter.fault(`${prefix}${point}`, error)
      }
    }
    return [point, safeHook]
  })
  return Object.fromEntries(safe) as FactoryHooks<H>
}

type AnyHook = (...words: unknown[]) => Promise<void>

/** OpenCode does not wait for events, so they run at once. */
export function composeHooks(parts: readonly Hooks[]): Hooks {
  const all = parts.flatMap((hooks) => Object.entries(hooks) as [string, AnyHook][])
  const composed = [...new Set(all.map(([point]) => point))].map((point) => {
    const hooks = all.flatMap(([one, hook]) => (one === point ? hook : []))
    const runAll: AnyHook = async (...words) => {
      if (point === 'event') await Promise.all(hooks.map((hook) => hook(...words)))
      else for (const hook of hooks) await hook(...words)
    }
    return [point, runAll]
  })
  return Object.fromEntries(composed)
}

/** MCP tools return a list, all others a text. */
export function resultText({ output, content }: ToolOutput): string | undefined {
  if (typeof output === 'string') return output
  if (!Array.isArray(content)) return undefined
  const texts = content.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? text : []))
  return texts.length === 0 ? undefined : texts.join('\n')
}

export function addToResult(result: ToolOutput, text: string): boolean {
  if (typeof result.output === 'string') result.output += `\n\n${text}`
  else if (Array.isArray(result.content)) result.content.push({ type: 'text', text })
  else return false
  return true
}

/** Plugins may have their own copies of our modules, so this is on the global object. */
export function onGlobal<T>(name: string, create: () => T): T {
  const holder = globalThis as { [key: symbol]: T | undefined }
  const key = Symbol.for(`${PRODUCT}.opencode.${name}`)
  holder[key] ??= create()
  return holder[key]
}

export function limitMemory(memory: Map<string, unknown> | Set<string>): void {
  const [oldest] = memory.keys()
  if (memory.size > 1_000 && oldest !== undefined) memory.delete(oldest)
}

export type Reporter = { fault(where: string, error: unknown): void; notice(text: string): void }

/** The reporter never throws. */
export function createReporter(client: HostClient, findRoots: () => readonly string[]): Reporter {
  const screen = screenOf(process.argv)
  const unreadable = new Set<string | undefined>()
  const log = (level: 'warn' | 'error', message: string): void => {
    if (screen === 'stderr') writeAll(2, `${message}\n`)
    quietly(() => client.app.log({ body: { service: PRODUCT, level, message } }))
  }
  const record = (detail: string): void => {
    quietly(() => {
      const [root] = findRoots()
      const recorded = root === undefined ? [] : [{ root, entry: { event: 'error' as const, detail } }]
      withoutSleep(() => appendRecorded(recorded, Date.now()))
    })
  }
  const reporter: Reporter = {
    fault(where, error) {
      if (isGone(error)) return
      const detail = detailOf(error)
      if (error instanceof HostRefusal && error.kind === 'unreadable') {
        if (unreadable.has(error.session)) return
        unreadable.add(error.session)
        const text = `${PRODUCT}: OpenCode cannot read the messages of this conversation, so its stops are not blocked (${quote(detail)}).`
        reporter.notice(text)
        record(text)
        return
      }
      const known = messageForUser(error)
      const text = known === undefined ? internalError(where, detail) : `${PRODUCT}: ${known}`
      log('error', text)
      record(text)
    },
    notice(text) {
      log('warn', text)
      if (screen === 'scrollback') quietly(() => process.stdout.write(`\n${text}\n`))
      if (screen === 'toast') quietly(() => client.tui.showToast({ body: toastOf(text) }))
    },
  }
  return reporter
}

/** Undefined for an internal error. */
export function messageForUser(error: unknown): string | undefined {
  return error instanceof Error && asPostflightError(error).code !== 'internal' ? messageOf(error) : undefined
}

/** A client may throw anything. */
export function detailOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export function internalError(where: string, detail: string): string {
  return `${PRODUCT}: internal error (${where}: ${quote(detail, 600)}). Please report it.`
}

export function toastOf(text: string) {
  const message = text.startsWith(`${PRODUCT}: `) ? text.slice(PRODUCT.length + 2) : text
  return { title: PRODUCT, message, variant: 'warning' } as const
}

/** Never rejects, also if the action throws at once. */
export async function quietly(action: () => unknown): Promise<void> {
  try {
    await action()
  } catch {}
}
