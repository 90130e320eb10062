import { asPostflightError, type Output, printError } from './print.ts'
import { buildProgram } from './program/program.ts'
import { asUsageError } from './program/usage-error.ts'
import { runCommand, type World } from './run-command.ts'

/** The CLI without a process of its own. The only `catch` turns errors into exit codes. */

/** The process that the CLI runs in. */
export interface CliProcess extends World {
  readonly version: string
  readonly stderr: Output
  /** Sets the exit code of the process. */
  readonly endWith: (exitCode: number) => void
}

/** Runs a command line, and prints its result or its error. */
export async function main(words: readonly string[], cli: CliProcess): Promise<void> {
  const { version, stdout, stderr, endWith } = cli
  const program = buildProgram({
    version,
    stdout,
    run: async (invocation, options) => endWith(await runCommand(invocation, options, cli)),
  })
  try {
    await program.parseAsync(namesCommand(words) ? words : [...words, 'status'], { from: 'user' })
  } catch (error) {
    const usage = asUsageError(error, program, words)
    if (usage !== 'done')
      endWith(printError(usage ?? asPostflightError(error), words.includes('--json'), stdout, stderr))
  }
}

/** False if only options that every command takes are given: `postflight` alone shows the status. */
function namesCommand(words: readonly string[]): boolean {
  return words.some((word, index) => {
    const isGlobal = ['--json', '--quiet', '--root'].includes(word) || word.startsWith('--root=')
    return !isGlobal && words[index - 1] !== '--root'
  })
}
