import { known, variable } from '../kernel/values.ts'
import { BOTH_STOPS, eventEntries, type HookHost, type HookLocation } from './hook-entries.ts'
import type { HostDifference } from './host.ts'
import { MAIN_AGENT } from './payload.ts'

/** Codex CLI (measured with 0.169.0). Its shell names root session and thread; a sub-agent has its own thread. */
export const codex: HostDifference = {
  name: 'codex',
  recognizes: (payload) => payload.turn !== undefined,
  sessionVariable: 'CODEX_SESSION_ID',
  readShell(environment, session) {
    const thread = variable(environment, 'CODEX_THREAD_ID')
    return known({ agent: thread === session ? MAIN_AGENT : thread })
  },
}

const ADVICE = 'open Codex in the project, type /hooks, and trust each entry'

/** Codex 0.169.0 gives its hooks no variable of its own. */
export const codexSettings = {
  title: 'Codex CLI',
  folder: '.codex',
  folderVariable: 'CODEX_HOME',
  file: 'hooks.json',
  accepts: [],
  readsMainCheckout: true,
  tellsProject: false,
  entries: (command) => eventEntries(command, BOTH_STOPS, 'Bash'),
  trust: {
    note: `Codex runs it only after you trust it: ${ADVICE}. Until then Codex skips it, and \`codex exec\` does not say so. Changed entries need your trust again.`,
    record: {
      file: 'config.toml',
      trusts,
      untrusted: (settings, events) =>
        `Codex does not trust the hooks of ${settings}, or they are off (${events.join(', ')}), so it skips them silently`,
      advice: ADVICE,
    },
  },
} as const satisfies HookHost

/**
 * Codex 0.169.0 keeps its user's trust in `config.toml`, by file, event and indices, each hook on its own; `/hooks` also
 * switches one off there. Only Codex knows whether the trusted hook is the current one.
 */
function trusts(text: string, settings: string, { event, group, hook }: HookLocation): boolean {
  // The feature is off. Its name was `codex_hooks` (both count in 0.171.0).
  if (/^[ \t]*(?:features\b[^\n]*[ \t.{,])?(?:codex_)?hooks[ \t]*=[ \t]*false/m.test(text)) return false
  const label = event.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()
  // A TOML key has JSON's escapes, or none.
  const key = `${settings}:${label}:${group}:${hook}`
  return [JSON.stringify(key), `'${key}'`].some((name) =>
    /^(?![^[}]*enabled\s*=\s*false)[^[}]*trusted_hash/.test(text.split(name)[1] ?? ''),
  )
}
