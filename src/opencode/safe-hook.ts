import { appendRecorded } from '../io/journal.ts'
import { writeAll } from '../io/process/output.ts'
import type { HostClient } from './host/api.ts'
import { OPENCODE_TEXT } from './messages.ts'

/**
 * Keeps the plugin's errors away from the session: in OpenCode 1.18.34 an error in a hook breaks the turn, and an error in
 * the event handler breaks the server.
 */

/** Reports errors and notices. */
export interface Reporter {
  /** Reports an internal error to OpenCode's log and to the journal. */
  fault(where: string, error: unknown): void
  /** Tells the user something, on the screen where there is one, and in the log. */
  notice(text: string): void
}

/**
 * Creates a reporter to OpenCode's log and to the journal of the first root. With `onStderr` it writes to stderr too:
 * `opencode run` has no screen, and ends before its log is written (1.18.34). The reporter never throws.
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

/** Runs an action whose failure does not matter. */
function quietly(action: () => unknown): void {
  try {
    Promise.resolve(action()).catch(() => {})
  } catch {}
}

/** The same hook made safe: it runs only while `isActing` is true, its errors are reported, and it never throws. */
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
