// Builds dist/, or the output of another configuration: `node scripts/build.js [CONFIG]`. The command line of tsdown does
// the same, but prints a warning about Node 20 at every build.
import { rmSync } from 'node:fs'
import { build } from 'tsdown'

const [config] = process.argv.slice(2)
try {
  // Emptied here, because several builds write into dist/. A file of an earlier build would be published.
  if (config === undefined) rmSync('dist', { recursive: true, force: true })
  await build({ config: config ?? true, logLevel: 'error' })
} catch (error) {
  console.error(error)
  process.exit(1)
}
