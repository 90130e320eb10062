#!/usr/bin/env node
// Only boots. `postflight hook` is the hook's own bundle, so that it starts as fast as the hook does; it is required,
// because importing CommonJS costs Node 20 some 20 ms.
const words = process.argv.slice(2)
const command = words.find((word, index) => !word.startsWith('-') && words[index - 1] !== '--root')
const wantsHelp = words.includes('--help') || words.includes('-h')
if (command === 'hook' && !wantsHelp) {
  process.getBuiltinModule('node:module').createRequire(import.meta.url)('../dist/hook.js')
} else {
  await import('../dist/cli/cli.mjs')
}
