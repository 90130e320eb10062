import { isOneShot } from '../../hosts/opencode/one-shot.ts'
import type { HostEvent } from '../../hosts/opencode/plugin-api.ts'
import { factory } from '../factory.ts'
import { KnownSessions } from '../known-sessions.ts'
import { ModelSwitch } from './model-switch.ts'
import { OneShotNotice } from './one-shot-notice.ts'
import type { ForegroundFallbackOptions } from './options.ts'
import { ProviderFetch } from './provider-fetch.ts'
import { rateLimitTest } from './rate-limit.ts'

/**
 * The hooks that continue a rate-limited main conversation with the next model of its agent's chain. Each model is tried
 * once for each message; after the last one OpenCode's own retries and its error follow.
 */
export const createForegroundFallbackHook = factory(
  'foreground fallback',
  ({ client, reporter }, { chains, patterns = [] }: ForegroundFallbackOptions) => {
    const sessions = new KnownSessions(client)
    const isRateLimit = rateLimitTest(patterns)
    const oneShot = isOneShot(process.argv)
    const switching = new ModelSwitch({ client, reporter, sessions, chains, isRateLimit })
    const inProvider = new ProviderFetch(chains, reporter)
    const notice = new OneShotNotice({
      reporter,
      sessions,
      chains,
      isRateLimit,
      triedBy: inProvider.triedBy.bind(inProvider),
    })
    const answer = (event: HostEvent): Promise<void> | void =>
      oneShot ? notice.onEvent(event) : switching.onEvent(event)
    return {
      async event({ event }) {
        const deleted = sessions.noteEvent(event)
        if (deleted !== undefined) switching.forget(deleted)
        await answer(event)
      },
      async 'chat.message'(_input, { message }) {
        sessions.noteMessage(message)
        if (oneShot) inProvider.noteMessage(message)
        else switching.noteMessage(message)
      },
      async config(config) {
        if (oneShot) inProvider.install(config)
      },
    }
  },
)
