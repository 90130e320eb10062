import type { HostDifference } from './host.ts'

/** Kimi Code (measured with 2.1.0) ignores JSON answers. */
export const kimi: HostDifference = {
  recognizes: (payload) => payload.client === 'kimi_code_cli',
  exempts: (payload) => (payload.client === 'kimi_code_cli' ? { host: 'Kimi Code', why: 'answer-ignored' } : undefined),
}
