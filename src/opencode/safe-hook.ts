import { appendRecorded } from '../io/journal.ts'
import { writeAll } from '../io/process/output.ts'
import type { HostClient } from './host/api.ts'
import { OPENCODE_TEXT } from './messages.ts'

/**
 * Keeps faults of the plugin away from the session: OpenCode 1.18.33 lets an error in a hook break the turn, and one in
 * the event handler the server.
 */

/** Where faults and notices go. */
export interface Reporter {
  /** A fault: the log of OpenCode, and the journal. */
  fault(where: string, error: unknown): void
  /** Something the user must know of: on the screen where there is one, and in the log. */
  notice(text: string): void
}

/**
 * Reports to OpenCode and to the journals of `findRoots()`; with `onStderr` to that too: `opencode run` has no screen,
 * and ends before its log is written (1.18.33). Never throws.
 */
export function createReporter(client: HostClient, findRoots: () => readonly string[], onStderr: boolean): Reporter {
  const log = (level: 'warn' | 'error', message: string): void => {
    if (onStderr) writeAll(2, `${message}\n`)
    quietly(() => client.app.log({ body: { service: 'postflight-guard', level, message } }))
  }
  return {
    fault(where, error) {
      const detail = error instanceof Error ? error.message : String(error)
      log('error', OPENCODE_TEXT.fault(where, detail))
      quietly(() => {
        const [root] = findRoots()
        if (root !== undefined) {
          appendRecorded([{ root, entry: { event: 'error', detail: OPENCODE_TEXT.fault(where, detail) } }], Date.now())
        }
      })
    },
    notice(text) {
      log('warn', text)
      if (onStderr) return
      quietly(() =>
        client.tui.showToast({ body: { title: OPENCODE_TEXT.toastTitle, message: text, variant: 'warning' } }),
      )
    },
  }
}

/** Does something whose failure may not matter to anybody. */
function quietly(action: () => unknown): void {
  try {
    Promise.resolve(action()).catch(() => {})
  } catch {
    // There is nobody left to tell.
  }
}

/** The hook, made safe: while `isActing` it does its work, a fault in it is reported, and it never throws. */
export function safeHook<A extends unknown[]>(
  where: string,
  reporter: Reporter,
  isActing: () => boolean,
  hook: (...words: A) => Promise<void> | void,
): (...words: A) => Promise<void> {
  return async (...words) => {
    try {
      if (isActing()) await hook(...words)
    } catch (error) {
      reporter.fault(where, error)
    }
  }
}
