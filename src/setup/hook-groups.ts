import { isOurCommand } from '../hosts/hook-entries.ts'

/** The groups of hooks in a host's settings: each has a list of commands. */

/** Tells our hooks from the user's; there are two kinds of ours, which are added and removed independently. */
export type IsOurs = (hook: unknown) => boolean

/** The hooks of a group; none for anything else. */
export function hooksOf(group: unknown): unknown[] {
  const hooks = (group as { hooks?: unknown } | null)?.hooks
  return Array.isArray(hooks) ? hooks : []
}

/** True for a hook whose command has the form of ours. Whether it starts our package, only the disk knows. */
export function isOurHook(hook: unknown): hook is { command: string } {
  return isOurCommand((hook as { command?: unknown } | null)?.command)
}

/** True for a group that has only our hooks, so that it is removed with them. */
export function isOnlyOurs(group: unknown, isOurs: IsOurs): boolean {
  const hooks = hooksOf(group)
  return hooks.length > 0 && hooks.every(isOurs)
}
