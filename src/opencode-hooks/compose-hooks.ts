import type { Hooks } from '../hosts/opencode/plugin-api.ts'

/** Joins the hooks of the plugin's parts. */

type AnyHook = (...words: unknown[]) => Promise<void>

/**
 * The hooks of all parts as one object. At each point the parts act one after another, in their order; events are given
 * to all of them at once, because OpenCode does not wait for an answer. If a part throws (see `RefusedCall`), the later
 * ones do not act.
 */
export function composeHooks(parts: readonly Hooks[]): Hooks {
  const byPoint = new Map<string, AnyHook[]>()
  for (const { tool: _tool, ...hooks } of parts) {
    for (const [point, hook] of Object.entries(hooks)) {
      byPoint.set(point, [...(byPoint.get(point) ?? []), hook as AnyHook])
    }
  }
  const composed = [...byPoint].map(([point, hooks]) => [point, point === 'event' ? together(hooks) : inTurn(hooks)])
  return { ...Object.fromEntries(composed), tool: Object.assign({}, ...parts.map(({ tool }) => tool)) }
}

function together(hooks: readonly AnyHook[]): AnyHook {
  return async (...words) => {
    await Promise.all(hooks.map((hook) => hook(...words)))
  }
}

function inTurn(hooks: readonly AnyHook[]): AnyHook {
  return async (...words) => {
    for (const hook of hooks) await hook(...words)
  }
}
