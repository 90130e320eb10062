/** What happens once for a run of the host tests, before its first file and after its last. */

import type { TestProject } from 'vitest/node'
import { ensureClaudeCode, ensureOpenCode, hostsSkipped } from './client-cache.ts'
import { writeTestedWith } from './tested-with.ts'

/** Fetches what is missing: once, before several test files ask for it at the same time. */
export default async function setUp(project: TestProject): Promise<() => void> {
  if (!hostsSkipped()) {
    await ensureClaudeCode()
    await ensureOpenCode()
  }
  return () => {
    // Only on demand, so that a plain run leaves the tree alone.
    if (process.env.POSTFLIGHT_WRITE_TABLE === '1') writeTestedWith(project)
  }
}
