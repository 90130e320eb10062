// Builds dist/, or the output of another configuration: `node scripts/build.js [CONFIG]`. The command line of tsdown does
// the same, but prints a warning about Node 20 at every build.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { build } from 'tsdown'

const [config] = process.argv.slice(2)
try {
  if (config === undefined) await buildPackage()
  else await build({ config, logLevel: 'error' })
} catch (error) {
  console.error(error)
  process.exit(1)
}

/**
 * Builds into a temporary folder, which then replaces dist/: a wired hook needs a whole dist/ at every moment. No file of
 * an earlier build stays, because it would be published.
 */
async function buildPackage() {
  mkdirSync('.cache', { recursive: true })
  const folder = mkdtempSync('.cache/dist-')
  try {
    const output = `${folder}/new`
    // tsdown.config.ts reads it.
    process.env.POSTFLIGHT_BUILD_FOLDER = output
    await build({ config: true, logLevel: 'error' })
    if (existsSync('dist')) renameSync('dist', `${folder}/old`)
    renameSync(output, 'dist')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
