import fs from 'node:fs'
import { runHook } from './run.ts'

/** The hook's entry: `node dist/hook.js`, the launcher, and `postflight hook` start this file. */

// A bug anywhere must not become an exit code or an empty stdout.
process.on('uncaughtException', (error) => {
  try {
    fs.writeSync(2, `postflight-guard: the stop was allowed: ${error}\n`)
    fs.writeSync(1, '{}\n')
  } finally {
    process.exit(0)
  }
})

// A stdin that never ends would keep the process alive.
void runHook().then(() => process.exit(0))
