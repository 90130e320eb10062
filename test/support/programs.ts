/**
 * Two ways to run the hook and the CLI: the built files as processes, and the sources in the test's own process.
 * `test/integration/cli/programs.test.ts` proves that they do the same.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { main } from '../../src/cli/main.ts'
import { processAgeMs } from '../../src/disk/age.ts'
import { runHook } from '../../src/hook/run-hook.ts'
import type { Terminal } from '../../src/project/command-context.ts'
import { sessionBirthMs } from '../../src/stop/observe-stop.ts'
import { CLI, LAUNCHER, PACKAGE, type ProcessOptions, type ProcessResult, runProcess } from './process.ts'

/** How to run a program. `env` is its whole environment. */
export interface ProgramOptions extends ProcessOptions {
  /** How long (ms) the hook judges markers. A process has its own limit. */
  readonly judgesForMs?: number | undefined
  /** When the session began, for the hook (ms since the epoch). A process looks at the payload's transcript. */
  readonly sessionBirthMs?: number | undefined
  /** The package folder that the CLI works with. A process works with its own. */
  readonly packageFolder?: string | undefined
  /** What a person at the terminal answers, for the CLI's sources. A process of a test has no terminal. */
  readonly answers?: readonly string[] | undefined
}

export type Program = (words: readonly string[], options: ProgramOptions) => Promise<ProcessResult>

export interface Programs {
  readonly hook: Program
  readonly cli: Program
}

/** The launcher, and the built CLI. */
export const PROCESSES: Programs = {
  hook: (words, options) => runProcess(LAUNCHER, words, options),
  cli: (words, options) => runProcess(process.execPath, [CLI, ...words], options),
}

/** The sources. A call that needs a process (another user, a stdin that stays open, the CLI's stdin) starts the built files. */
export const SOURCES: Programs = {
  hook: (words, options) => (needsProcess(options) ? PROCESSES.hook(words, options) : hookHere(words, options)),
  cli: (words, options) =>
    needsProcess(options) || options.input !== undefined ? PROCESSES.cli(words, options) : cliHere(words, options),
}

function needsProcess({ input, keepOpen, endless, unread, uid }: ProcessOptions): boolean {
  return input === 'open' || [keepOpen, endless, unread, uid].some((option) => option !== undefined)
}

/** As long as in its own process. */
const JUDGES_FOR_MS = 3_500

async function hookHere(
  words: readonly string[],
  { cwd, env, input = '', judgesForMs = JUDGES_FOR_MS, sessionBirthMs: birthMs }: ProgramOptions,
): Promise<ProcessResult> {
  const printed = { 1: '', 2: '' }
  const startMs = Date.now()
  await runHook({
    environment: env,
    words,
    currentFolder: () => cwd,
    readInput: async () => (input === '' ? { kind: 'nothing' } : { kind: 'text', text: Buffer.from(input).toString() }),
    write: (descriptor, text) => {
      printed[descriptor] += text
    },
    cli: CLI,
    deadline: processAgeMs() + judgesForMs,
    findStart: () => startMs,
    findSessionBirth: birthMs === undefined ? sessionBirthMs : () => birthMs,
  })
  const durationMs = Date.now() - startMs
  // Nothing above waits, so tests that run beside this one and wait for a process get their turn here.
  await setImmediate()
  return { status: 0, signal: null, stdout: printed[1], stderr: printed[2], durationMs }
}

const VERSION: string = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')).version

async function cliHere(
  words: readonly string[],
  { cwd, env, packageFolder = PACKAGE, answers }: ProgramOptions,
): Promise<ProcessResult> {
  const printed = { stdout: '', stderr: '' }
  const print = (to: keyof typeof printed) => (text: string) => {
    printed[to] += text
  }
  const startMs = Date.now()
  let status = 0
  await main(words, {
    version: VERSION,
    stdout: { write: print('stdout'), isTTY: answers !== undefined },
    stderr: { write: print('stderr') },
    contextNow: (rootOption) => ({
      environment: env,
      cwd,
      nowMs: Date.now(),
      findStart: () => startMs,
      rootOption,
      packageFolder,
      findHome: () => env.HOME ?? '',
      platform: process.platform,
      isOutputCaught: () => false,
      terminal: answers && personWho(answers, print('stdout')),
      note: (text) => print('stderr')(`${text}\n`),
    }),
    endWith: (exitCode) => {
      status = exitCode
    },
  })
  const durationMs = Date.now() - startMs
  await setImmediate()
  return { status, signal: null, ...printed, durationMs }
}

/** A person at a terminal who gives these answers and then ends the input. */
function personWho(answers: readonly string[], print: (text: string) => void): Terminal {
  const left = [...answers]
  return {
    print: (line) => print(`${line}\n`),
    ask: (question) => {
      print(question)
      return left.shift()
    },
  }
}
