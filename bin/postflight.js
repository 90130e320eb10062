#!/usr/bin/env node
// Starts the CLI, or for `postflight hook` the hook's own bundle, which starts faster.
const words = process.argv.slice(2)
const command = words.find((word, index) => !word.startsWith('-') && words[index - 1] !== '--root')
const wantsHelp = words.includes('--help') || words.includes('-h')
const isHook = command === 'hook' && !wantsHelp
// Node 22 and later keep the compiled code of the CLI; in Node 20 the module has no cache, and takes 1 ms to load. The hook
// loads one small file, for which a cache costs more than it saves.
if (!isHook && Number.parseInt(process.versions.node, 10) >= 22) {
  process.getBuiltinModule?.('node:module').enableCompileCache?.()
}
try {
  require(isHook ? '../dist/hook.js' : '../dist/cli/cli.js')
} catch (error) {
  reportFault(String(error.message).split('\n', 1)[0])
}

/** Says in one line that Node is too old, or that files of dist/ are missing or cut. A stop is allowed, as after every fault. */
function reportFault(detail) {
  const missing = require('node:path').resolve(__dirname, '..', 'dist')
  // Node has this function since 20.16 and 22.3.
  const message =
    process.getBuiltinModule === undefined
      ? `Node ${process.versions.node} is too old: postflight needs 20.19 (or 22.12) or later`
      : `${missing} is missing or incomplete, so postflight cannot start (${detail}). In a clone of postflight-guard run \`npm ci && npm run build\`, in a project that depends on it \`npm ci\``
  process.stderr.write(`postflight: ${message}\n`)
  if (isHook) process.stdout.write('{}\n')
  else if (words.includes('--json')) {
    process.stdout.write(`${JSON.stringify({ error: { code: 'internal', message } })}\n`)
  }
  // As every internal error of the CLI (src/kernel/errors.ts).
  process.exitCode = isHook ? 0 : 70
}
