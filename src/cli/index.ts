import fs from 'node:fs'
import path from 'node:path'
import { processStartMs } from '../disk/age.ts'
import { isCaught } from '../disk/process-output.ts'
import { homeFolder } from '../project/home-folder.ts'
import { cleanOutput, wrapped } from '../views/print.ts'
import { currentFolder } from './current-folder.ts'
import { main } from './main.ts'
import { standardError, standardOutput } from './output.ts'
import { processTerminal } from './terminal.ts'

/** Starts the CLI in this process. */

/** The package's folder: dist/cli/cli.js lies two folders below it. */
const packageFolder = path.resolve(import.meta.dirname, '..', '..')

void main(process.argv.slice(2), {
  version: JSON.parse(fs.readFileSync(path.join(packageFolder, 'package.json'), 'utf8')).version,
  stdout: standardOutput,
  stderr: standardError,
  contextNow: (rootOption) => ({
    environment: process.env,
    cwd: currentFolder(rootOption, process.env),
    nowMs: Date.now(),
    findStart: processStartMs,
    rootOption,
    packageFolder,
    findHome: homeFolder,
    platform: process.platform,
    isOutputCaught: (shell) => isCaught(1, shell),
    get terminal() {
      return processTerminal()
    },
    async readInput(patienceMs) {
      const { readStdin } = await import('../disk/stdin.ts')
      const read = await readStdin(patienceMs)
      // A host that keeps it open must not keep this process alive.
      process.stdin.destroy()
      return read
    },
    note: (text) => cleanOutput(standardError).write(wrapped(`${text}\n`, standardError)),
  }),
  endWith: (exitCode) => {
    process.exitCode = exitCode
  },
})
