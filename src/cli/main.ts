import { Command } from 'commander'
import { asPostflightError } from '../kernel/error-messages.ts'
import { cleanOutput, type Output, printError } from '../views/print.ts'
import type { BareCommand } from './command.ts'
import { COMMANDS, commandIn } from './commands/index.ts'
import { buildProgram, type ProgramPorts } from './program.ts'
import { runCommand, type World } from './run-command.ts'
import { asUsageError } from './usage-error.ts'

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
  const ports: ProgramPorts = {
    version,
    stdout,
    run: async (invocation, options, program) => endWith(await runCommand(invocation, options, program, world)),
  }
  const line = meansStatus(words) ? ['status', ...words] : words
  // To declare all commands takes 3 ms, so only help, completion and errors in a command's name do.
  const named = commandIn(line)
  const program = buildProgram(ports, named === 'complete' ? undefined : named)
  try {
    await program.parseAsync(line, { from: 'user' })
  } catch (error) {
    const usage = asUsageError(error, program, line)
    if (usage !== 'done')
      endWith(printError(usage ?? asPostflightError(error), words.includes('--json'), stdout, stderr))
  }
}

/** Whether the line has no command: global options alone, or options of `status`. */
function meansStatus(words: readonly string[]): boolean {
  const first = words.find((word, index) => {
    const isGlobal = ['--json', '--quiet', '--root'].includes(word) || word.startsWith('--root=')
    return !isGlobal && words[index - 1] !== '--root'
  })
  if (first === undefined) return true
  if (!first.startsWith('--')) return false
  const status = COMMANDS.status.declaration.declare(new Command('status') as unknown as BareCommand)
  return status.options.some(({ long }) => long === first.replace(/=.*/s, ''))
}
