import type { Reporter } from './reporter.ts'

/**
 * Keeps the plugin's errors away from the session: in OpenCode 1.18.34 an error in a hook breaks the turn, and an error in
 * the event handler breaks the server.
 */

/** A tool call that a hook refuses: the one error that a hook may throw on purpose. The agent reads the message. */
export class RefusedCall extends Error {}

/**
 * The same hook made safe: it runs only while `isActing` is true, its errors are reported, and it throws nothing but a
 * `RefusedCall`.
 */
export function safeHook<A extends unknown[]>(
  where: string,
  reporter: Pick<Reporter, 'fault'>,
  isActing: () => boolean,
  hook: (...words: A) => Promise<void> | void,
): (...words: A) => Promise<void> {
  return async (...words) => {
    try {
      if (isActing()) await hook(...words)
    } catch (error) {
      if (error instanceof RefusedCall) throw error
      reporter.fault(where, error)
    }
  }
}
