import { known, variable } from '../kernel/values.ts'
import { BOTH_STOPS, eventEntries, type HookHost } from './hook-entries.ts'
import type { HostDifference } from './host.ts'

/** Codex CLI (measured with 0.169.0). Its shell names root session and thread; a sub-agent has its own thread. */
export const codex: HostDifference = {
  recognizes: (payload) => payload.turn !== undefined,
  shellIdentity(environment) {
    const session = variable(environment, 'CODEX_SESSION_ID')
    if (session === undefined) return undefined
    const thread = variable(environment, 'CODEX_THREAD_ID')
    return known({ session, agent: thread === session ? 'main' : thread })
  },
}

/** Codex 0.169.0 gives its hooks no variable of its own. */
export const codexSettings = {
  title: 'Codex CLI',
  folder: '.codex',
  folderVariable: 'CODEX_HOME',
  file: 'hooks.json',
  tellsProject: false,
  entries: (command) => eventEntries(command, BOTH_STOPS, 'Bash'),
  trust: 'hooks',
} as const satisfies HookHost
