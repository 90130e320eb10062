import fs from 'node:fs'
import path from 'node:path'
import description from '../../package.json' with { type: 'json' }
import { processStartMs, sleepSync } from '../disk/age.ts'
import { errorCode } from '../disk/file-facts.ts'
import { isCaught, isTerminal, writeAll } from '../disk/process-output.ts'
import { PostflightError } from '../kernel/errors.ts'
import { attempt, type Environment, succeeds, variable } from '../kernel/values.ts'
import type { Terminal } from '../project/command-context.ts'
import { homeFolder } from '../project/home-folder.ts'
import { cleanOutput, type Output, printable, wrapped } from '../views/print.ts'
import { main } from './main.ts'

/** A reader that stops reading (`| head -1`) has what it wants. On a full disk the result would be lost. */
const READER_GONE: readonly string[] = ['EPIPE', 'EAGAIN']

const standardOutput: Output = {
  write(text) {
    const failure = writeAll(1, text)
    // The terminal was closed. After an ordinary exit Node 20 would abort, because it cannot restore the terminal.
    if (failure === 'EIO' && fs.fstatSync(1).isCharacterDevice()) process.kill(process.pid, 'SIGHUP')
    else if (failure !== undefined && !READER_GONE.includes(failure)) {
      throw new PostflightError('output-unwritable', { detail: failure })
    }
    return failure === undefined
  },
  get isTTY() {
    return isTerminal(1)
  },
  get columns() {
    return isTerminal(1) ? process.stdout.columns : undefined
  },
}

const standardError: Output = {
  write: (text) => writeAll(2, text),
  get columns() {
    return isTerminal(2) ? process.stderr.columns : undefined
  },
}

function processTerminal(): Terminal | undefined {
  if (!isTerminal(0) || !isTerminal(1)) return undefined
  return {
    print: (text) => standardOutput.write(wrapped(`${printable(text, true)}\n`, standardOutput)),
    ask(question) {
      writeAll(1, printable(question, true))
      const answer = readLine()
      if (answer === undefined) writeAll(1, '\n')
      return answer
    },
  }
}

/** The terminal cuts a line there (Linux: 4,095 bytes). */
const LINE_BYTES = 4_096
const POLL_MS = 20

/**
 * Returns undefined at the end of the input. A terminal returns one line per read, so lines typed ahead stay there.
 * Reads synchronously: an open stream or `readline` interface on stdin keeps the process alive after its last line.
 */
function readLine(): string | undefined {
  const bytes = Buffer.alloc(LINE_BYTES)
  for (;;) {
    try {
      const length = fs.readSync(0, bytes)
      return length === 0 ? undefined : bytes.toString('utf8', 0, length).replace(/\r?\n$/, '')
    } catch (error) {
      // EAGAIN: a program before us made the terminal non-blocking. Windows reports the end of the input as EOF.
      if (errorCode(error) !== 'EAGAIN') return undefined
      sleepSync(POLL_MS)
    }
  }
}

/** If the folder was removed, or its name is not UTF-8, an absolute `--root` or `POSTFLIGHT_ROOT` takes its place. */
function currentFolder(rootOption: string | undefined, environment: Environment): string {
  const folder = usableFolder()
  if (folder !== undefined) return folder
  const root = rootOption ?? variable(environment, 'POSTFLIGHT_ROOT')
  if (root === undefined || !path.isAbsolute(root)) throw new PostflightError('current-folder-lost')
  // The process moves there, because libraries ask it for its folder. The command reports a missing root.
  if (!succeeds(() => process.chdir(root))) process.chdir(path.parse(root).root)
  return process.cwd()
}

function usableFolder(): string | undefined {
  return attempt(() => {
    const folder = process.cwd()
    // Node decodes a name that is not UTF-8 into another one.
    const isItself = !folder.includes('\ufffd') || fs.statSync(folder).ino === fs.statSync('.').ino
    return isItself ? folder : undefined
  })
}

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
    packageFolder: path.resolve(import.meta.dirname, '..', '..'),
    findHome: homeFolder,
    platform: process.platform,
    isOutputCaught: (shell) => isCaught(1, shell),
    get terminal() {
      return processTerminal()
    },
    async readInput(patienceMs) {
      const { readStdin } = await import('../disk/stdin.ts')
      return readStdin(patienceMs)
    },
    note: (text) => cleanOutput(standardError).write(wrapped(`${text}\n`, standardError)),
  }),
  endWith: (exitCode) => {
    process.exitCode = exitCode
  },
})
