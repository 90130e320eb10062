import { isOurCommand } from './hook-entries.ts'

/** The groups of hooks in Claude Code's settings and in skills: each has a list of commands. */

/** The hooks of a group; none for anything else. */
export function hooksOf(group: unknown): unknown[] {
  const hooks = (group as { hooks?: unknown } | null)?.hooks
  return Array.isArray(hooks) ? hooks : []
}

/** True for a hook with a command of ours. */
export function isOurHook(hook: unknown): hook is { command: string } {
  return isOurCommand((hook as { command?: unknown } | null)?.command)
}

/** True for a group that has only our hooks (our commands, unless `isOurs` says otherwise), so that it is removed with them. */
export function isOnlyOurs(group: unknown, isOurs: (hook: unknown) => boolean = isOurHook): boolean {
  const hooks = hooksOf(group)
  return hooks.length > 0 && hooks.every(isOurs)
}
