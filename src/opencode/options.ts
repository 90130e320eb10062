import type * as z from 'zod/mini'
import { closestName } from '../core/closest-name.ts'
import { REACTIVE_RULES } from '../core/reactive/rule.ts'
import type { HookContext } from './hooks/context.ts'
import { createPostReadNudgeHook } from './hooks/post-read-nudge/index.ts'
import { POST_READ_NUDGE } from './hooks/post-read-nudge/options.ts'
import { createReactiveAgentHook } from './hooks/reactive-agent/index.ts'
import type { Hooks } from './host/api.ts'
import { OPTIONS_TEXT } from './messages.ts'

/** The plugin's options, and the hooks that they ask for. */

/** Reads the options of one factory, and creates its hooks; undefined where the options switch it off. */
interface Row {
  readonly schema: z.ZodMiniType
  readonly create: (context: HookContext, value: unknown) => Hooks | undefined
}

function row<T>(schema: z.ZodMiniType<T>, create: (context: HookContext, value: T) => Hooks | undefined): Row {
  return { schema, create: (context, value) => create(context, value as T) }
}

/**
 * The factories by the name of their option, in the order in which they act where several of them have the same hook
 * (docs/opencode.md, "Order"). The guard and the workflow act before them.
 */
const FACTORIES: Readonly<Record<string, Row>> = {
  postReadNudge: row(POST_READ_NUDGE, createPostReadNudgeHook),
  reactive: row(REACTIVE_RULES, createReactiveAgentHook),
}

/** The factories that are on without an option, with the value that they get. */
const DEFAULTS: Readonly<Record<string, unknown>> = {}

/** The options that switch parts of the plugin itself. */
const SWITCHES = ['guard', 'workflow'] as const

/** The plugin's options, read. */
export interface PluginOptions {
  readonly guard: boolean
  readonly workflow: boolean
  /** Creates the hooks of the factories that are on, in their order. */
  readonly createHooks: (context: HookContext) => Hooks[]
  /** A sentence for each option that cannot be used: the switch keeps its default, the factory stays off. */
  readonly problems: readonly string[]
}

/** Reads the plugin's options. */
export function readOptions(given: Readonly<Record<string, unknown>> = {}): PluginOptions {
  const known = [...SWITCHES, ...Object.keys(FACTORIES)]
  const problems = Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => OPTIONS_TEXT.unknown(name, closestName(name, known)))
  const isOn = (name: (typeof SWITCHES)[number]): boolean => {
    const value = given[name] ?? true
    if (typeof value === 'boolean') return value
    problems.push(OPTIONS_TEXT.wrongSwitch(name))
    return true
  }
  const created: ((context: HookContext) => Hooks | undefined)[] = []
  const switches = { guard: isOn('guard'), workflow: isOn('workflow') }
  for (const [name, { schema, create }] of Object.entries(FACTORIES)) {
    const value = given[name] ?? DEFAULTS[name]
    if (value === undefined || value === false) continue
    const read = schema.safeParse(value)
    if (read.success) created.push((context) => create(context, read.data))
    else problems.push(OPTIONS_TEXT.wrong(name, read.error.issues[0]))
  }
  return {
    ...switches,
    createHooks: (context) => created.flatMap((create) => create(context) ?? []),
    problems,
  }
}
