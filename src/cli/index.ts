import path from 'node:path'
import description from '../../package.json' with { type: 'json' }
import { processStartMs } from '../disk/age.ts'
import { isCaught } from '../disk/process-output.ts'
import { homeFolder } from '../project/home-folder.ts'
import { cleanOutput, wrapped } from '../views/print.ts'
import { currentFolder, processTerminal, standardError, standardOutput } from './cli-process.ts'
import { main } from './main.ts'

const packageFolder = path.resolve(import.meta.dirname, '..', '..')

void main(process.argv.slice(2), {
  version: description.version,
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
      const { readStdinOnce } = await import('../disk/stdin.ts')
      return readStdinOnce(patienceMs)
    },
    note: (text) => cleanOutput(standardError).write(wrapped(`${text}\n`, standardError)),
  }),
  endWith: (exitCode) => {
    process.exitCode = exitCode
  },
})
