import { writeAll } from '../disk/process-output.ts'
import { type HostClient, HostRefusal, isGone } from '../hosts/opencode/api.ts'
import { OPENCODE_TEXT, PRODUCT } from '../hosts/opencode/opencode-messages.ts'
import type { Screen } from '../hosts/opencode/process-arguments.ts'
import { appendRecorded } from '../project/journal.ts'

export interface Reporter {
  fault(where: string, error: unknown): void
  notice(text: string): void
}

/** The reporter never throws. */
export function createReporter(client: HostClient, findRoots: () => readonly string[], screen: Screen): Reporter {
  const unreadable = new Set<string | undefined>()
  const log = (level: 'warn' | 'error', message: string): void => {
    if (screen === 'stderr') writeAll(2, `${message}\n`)
    quietly(() => client.app.log({ body: { service: PRODUCT, level, message } }))
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

function quietly(action: () => unknown): void {
  try {
    Promise.resolve(action()).catch(() => {})
  } catch {}
}
