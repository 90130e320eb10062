import { appendRecorded } from '../io/journal.ts'
import { writeAll } from '../io/process/output.ts'
import type { HostClient } from './host/api.ts'
import { HostRefusal, isGone } from './host/refusal.ts'
import type { Screen } from './host/screen.ts'
import { OPENCODE_TEXT } from './messages.ts'

/**
 * Keeps the plugin's errors away from the session: in OpenCode 1.18.34 an error in a hook breaks the turn, and an error in
 * the event handler breaks the server.
 */

/** Reports errors and notices. */
export interface Reporter {
  /**
   * Reports an error to OpenCode's log and to the journal: as an internal one, unless it is an expected refusal of
   * OpenCode. A session that was deleted is not reported, and a conversation that cannot be read is reported once.
   */
  fault(where: string, error: unknown): void
  /** Shows a notice to the user, on the screen if there is one, and writes it to the log. */
  notice(text: string): void
}

/** Creates a reporter to the screen, to OpenCode's log, and to the journal of the first root. The reporter never throws. */
export function createReporter(client: HostClient, findRoots: () => readonly string[], screen: Screen): Reporter {
  const unreadable = new Set<string | undefined>()
  const log = (level: 'warn' | 'error', message: string): void => {
    if (screen === 'stderr') writeAll(2, `${message}\n`)
    quietly(() => client.app.log({ body: { service: OPENCODE_TEXT.product, level, message } }))
  }
  const record = (detail: string): void => {
    quietly(() => {
      const [root] = findRoots()
      if (root !== undefined) appendRecorded([{ root, entry: { event: 'error', detail } }], Date.now())
    })
  }
  const reporter: Reporter = {
    fault(where, error) {
      if (isGone(error)) return
      const detail = error instanceof Error ? error.message : String(error)
      if (error instanceof HostRefusal && error.kind === 'unreadable') {
        if (unreadable.has(error.session)) return
        unreadable.add(error.session)
        reporter.notice(OPENCODE_TEXT.unreadable(detail))
        record(OPENCODE_TEXT.unreadable(detail))
        return
      }
      log('error', OPENCODE_TEXT.fault(where, detail))
      record(OPENCODE_TEXT.fault(where, detail))
    },
    notice(text) {
      log('warn', text)
      if (screen === 'scrollback') quietly(() => process.stdout.write(`\n${text}\n`))
      if (screen === 'toast') quietly(() => client.tui.showToast({ body: OPENCODE_TEXT.toast(text) }))
    },
  }
  return reporter
}

/** Runs an action whose failure does not matter. */
function quietly(action: () => unknown): void {
  try {
    Promise.resolve(action()).catch(() => {})
  } catch {}
}

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
