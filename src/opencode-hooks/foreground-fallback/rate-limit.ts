import type { HostEvent } from '../../hosts/opencode/plugin-api.ts'

/** Recognizes rate limits. */

/** The words of providers, and of OpenCode's own summaries. */
const WORDS: readonly RegExp[] = [
  /\b429\b/,
  /rate[- _]?limit/i,
  /too[ _]many[ _]requests/i,
  /\b(?:usage|request|token|quota) limit/i,
  /quota (?:exceeded|exhausted|reached)|(?:exceeded|out of|insufficient)[ _](?:your |the )?(?:current )?quota/i,
  /resource[ _]?(?:has been )?exhausted/i,
  /rate increased too quickly|throttl/i,
  /overloaded/i,
]

/** The status of an answer that says the same without words. */
export const TOO_MANY_REQUESTS = 429

/** True for the text of a rate limit. */
export type RateLimitTest = (text: string | undefined) => boolean

/** The test of a text. `further`: regular expressions of the user. */
export function rateLimitTest(further: readonly string[]): RateLimitTest {
  const patterns = [...WORDS, ...further.map((one) => new RegExp(one, 'i'))]
  return (text) => text !== undefined && patterns.some((pattern) => pattern.test(text))
}

/** How an event reports a rate limit: OpenCode will try again, or it gave up. Undefined for any other event. */
export function rateLimitIn(
  { type, properties = {} }: HostEvent,
  isRateLimit: RateLimitTest,
): 'retrying' | 'failed' | undefined {
  const { status, error } = properties
  if (type === 'session.status' && status?.type === 'retry' && isRateLimit(status.message)) return 'retrying'
  // OpenCode compacts the conversation then, and goes on. Some providers speak of a token limit.
  if (type !== 'session.error' || error?.name === 'ContextOverflowError') return undefined
  return error?.data?.statusCode === TOO_MANY_REQUESTS || isRateLimit(error?.data?.message) ? 'failed' : undefined
}
