// Builds dist/, or what another configuration says: `node scripts/build.js [CONFIG]`. The command line of tsdown does
// the same, and says at every build on Node 20 that it would rather have another Node.
import { build } from 'tsdown'

try {
  await build({ config: process.argv[2] ?? true, logLevel: 'error' })
} catch (error) {
  console.error(error)
  process.exit(1)
}
