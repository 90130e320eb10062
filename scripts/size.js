// Prints the sizes of the published files, and fails if one is over its limit: `npm run size`, after a build. A limit
// is raised on purpose, in the change that needs it.
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** In bytes. */
function sizeOf(place) {
  const stats = statSync(place)
  return stats.isDirectory() ? readdirSync(place).reduce((sum, name) => sum + sizeOf(join(place, name)), 0) : stats.size
}

const [packed] = JSON.parse(
  execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }),
)

/** The measured part, its size in bytes, and its limit in kB. */
const rows = [
  ['tarball', packed.size, 570],
  ['hook', sizeOf('dist/hook.js'), 68],
  ['hook, where a workflow runs', sizeOf('dist/workflow.js'), 80],
  ['hook, with a specs/done.yaml', sizeOf('dist/done-hook.js'), 123],
  ['CLI', sizeOf('dist/cli'), 770],
  ['OpenCode plugin', sizeOf('dist/opencode'), 510],
]

for (const [what, bytes, limit] of rows) {
  const kilobytes = bytes / 1000
  const verdict = kilobytes > limit ? '  TOO LARGE' : ''
  console.log(`${what.padEnd(28)} ${kilobytes.toFixed(1).padStart(7)} kB  (limit ${limit})${verdict}`)
  if (verdict !== '') process.exitCode = 1
}
