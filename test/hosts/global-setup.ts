/** Runs once for all host tests, before the first file and after the last. */

import type { TestProject } from 'vitest/node'
import { ensureClaudeCode, ensureOpenCode, hostsSkipped } from './client-cache.ts'
import { writeTestedWith } from './tested-with.ts'

/** Fetches missing clients once, before several test files need them at the same time. */
export default async function setUp(project: TestProject): Promise<() => void> {
  if (!hostsSkipped()) {
    await ensureClaudeCode()
    await ensureOpenCode()
  }
  return () => {
    // Only on demand, so that an ordinary run does not change the repository.
    if (process.env.POSTFLIGHT_WRITE_TABLE === '1') writeTestedWith(project)
  }
}
