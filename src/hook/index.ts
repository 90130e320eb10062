import { writeAll } from '../io/process/output.ts'
import { runHook } from './run.ts'

/** The hook's entry: `node dist/hook.js`, the launcher, and `postflight hook` start this file. */

// A bug anywhere must not become an exit code or an empty stdout.
process.on('uncaughtException', (error) => {
  writeAll(2, `postflight-guard: the stop was allowed: ${error}\n`)
  writeAll(1, '{}\n')
  process.exit(0)
})

// A stdin that never ends would keep the process alive.
void runHook().then(() => process.exit(0))
