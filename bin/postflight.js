#!/usr/bin/env node
// Starts the CLI, or for `postflight hook` the hook's own bundle, which starts faster.
const words = process.argv.slice(2)
const command = words.find((word, index) => !word.startsWith('-') && words[index - 1] !== '--root')
const wantsHelp = words.includes('--help') || words.includes('-h')
require(command === 'hook' && !wantsHelp ? '../dist/hook.js' : '../dist/cli/cli.js')
