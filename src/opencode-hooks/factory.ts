import type { Hooks } from '../hosts/opencode/plugin-api.ts'
import { type FactoryPorts, type HookContext, portsOf } from './hook-context.ts'
import { safeHook } from './safe-hook.ts'

/** The common form of the hook factories. */

/**
 * The hooks of a factory, as other plugins see them. OpenCode's own types of the parameters differ from version to version,
 * and a plugin's author has one of them, so they are left open here.
 */
export type FactoryHooks<H> = {
  // biome-ignore lint/suspicious/noExplicitAny: only `any` fits the parameters of every version.
  readonly [Point in keyof H]: (...words: any[]) => Promise<void>
}

/** The options of a factory, which may be left out where it has a default for all of them. */
type Given<O> = undefined extends O ? [options?: O] : [options: O]

/**
 * The public form of a factory: `create` gets its ports, and the hooks that it returns never throw anything but a
 * `RefusedCall`. `name` stands in reports of errors.
 */
export function factory<O, H extends Hooks>(
  name: string,
  create: (ports: FactoryPorts, options: O) => H,
): (context: HookContext, ...given: Given<O>) => FactoryHooks<H> {
  return (context, ...[options]) => {
    const ports = portsOf(context)
    const hooks = Object.entries(create(ports, options as O)).map(([point, hook]) => [
      point,
      safeHook(`${name}, ${point}`, ports.reporter, ports.isActing, hook),
    ])
    return Object.fromEntries(hooks) as FactoryHooks<H>
  }
}
