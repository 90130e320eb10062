// Builds dist/, or what another configuration says: `node scripts/build.js [CONFIG]`. The command line of tsdown does
// the same, and says at every build on Node 20 that it would rather have another Node.
import { rmSync } from 'node:fs'
import { build } from 'tsdown'

const [config] = process.argv.slice(2)
try {
  // Several builds write into dist/, so none of them may empty it; what an earlier one left would be published.
  if (config === undefined) rmSync('dist', { recursive: true, force: true })
  await build({ config: config ?? true, logLevel: 'error' })
} catch (error) {
  console.error(error)
  process.exit(1)
}
