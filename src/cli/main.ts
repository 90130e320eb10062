import { asPostflightError } from '../kernel/error-messages.ts'
import { cleanOutput, type Output, printError } from '../views/print.ts'
import type { Program } from './program/bare-program.ts'
import { buildProgram } from './program/program.ts'
import { asUsageError } from './program/usage-error.ts'
import { runCommand, type World } from './run-command.ts'

/** The CLI without a process of its own. The only `catch` turns errors into exit codes. */

/** The process that the CLI runs in. */
export interface CliProcess extends Omit<World, 'terminalOutput'> {
  readonly version: string
  readonly stderr: Output
  /** Sets the exit code of the process. */
  readonly endWith: (exitCode: number) => void
}

/** Runs a command line, and prints its result or its error. */
export async function main(words: readonly string[], cli: CliProcess): Promise<void> {
  const { version, endWith } = cli
  const stdout = cleanOutput(cli.stdout)
  const stderr = cleanOutput(cli.stderr)
  const world = { contextNow: cli.contextNow, stdout, terminalOutput: cli.stdout }
  const program = buildProgram({
    version,
    stdout,
    run: async (invocation, options) => endWith(await runCommand(invocation, options, world)),
  })
  try {
    await program.parseAsync(meansStatus(words, program) ? ['status', ...words] : words, { from: 'user' })
  } catch (error) {
    const usage = asUsageError(error, program, words)
    if (usage !== 'done')
      endWith(printError(usage ?? asPostflightError(error), words.includes('--json'), stdout, stderr))
  }
}

/** True for `postflight` without a command: with global options alone, or followed by an option of `status`. */
function meansStatus(words: readonly string[], program: Program): boolean {
  const first = words.find((word, index) => {
    const isGlobal = ['--json', '--quiet', '--root'].includes(word) || word.startsWith('--root=')
    return !isGlobal && words[index - 1] !== '--root'
  })
  const status = program.commands.find((command) => command.name() === 'status')
  return first === undefined || status?.options.some(({ long }) => long === first.replace(/=.*/s, '')) === true
}
