import type { Hooks } from '../host/api.ts'
import { safeHook } from '../safe-hook.ts'
import { type FactoryPorts, type HookContext, portsOf } from './context.ts'

/** The common form of the hook factories. */

/**
 * The public form of a factory: `create` gets its ports, and the hooks that it returns never throw anything but a
 * `RefusedCall`. `name` stands in reports of errors.
 */
export function factory<O, H extends Hooks>(
  name: string,
  create: (ports: FactoryPorts, options: O) => H,
): (context: HookContext, options: O) => H {
  return (context, options) => {
    const ports = portsOf(context)
    const hooks = Object.entries(create(ports, options)).map(([point, hook]) => [
      point,
      safeHook(`${name}, ${point}`, ports.reporter, ports.isActing, hook),
    ])
    return Object.fromEntries(hooks) as H
  }
}
