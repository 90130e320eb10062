#!/usr/bin/env node
// Only boots. `postflight hook` is the hook's own bundle, so that it starts as fast as the hook does.
const words = process.argv.slice(2)
const command = words.find((word, index) => !word.startsWith('-') && words[index - 1] !== '--root')
const wantsHelp = words.includes('--help') || words.includes('-h')
require(command === 'hook' && !wantsHelp ? '../dist/hook.js' : '../dist/cli/cli.js')
