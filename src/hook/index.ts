import { writeAll } from '../disk/process-output.ts'
import { allowedComplaint } from '../stop/stop-messages.ts'
import { runHook } from './run-hook.ts'

/** The hook's entry point: `node dist/hook.js`, the launcher and `postflight hook` start this file. */

// A bug must not lead to an exit code or an empty stdout.
process.on('uncaughtException', (error) => {
  writeAll(2, `${allowedComplaint(String(error))}\n`)
  writeAll(1, '{}\n')
  process.exit(0)
})

// An explicit exit, because a stdin that never ends would keep the process alive.
void runHook().then(() => process.exit(0))
