import type { CommandContext } from '../project/command-context.ts'
import { type Output, painterFor, printResult } from '../views/print.ts'
import type { GlobalOptions } from './command.ts'
import { COMMANDS, freeCommands, type Invocation, type RunCommand } from './commands/index.ts'
import type { Program } from './program.ts'

/** What commands see of the process. */
export interface World {
  /** A command's context, with the current time. */
  readonly contextNow: (rootOption: string | undefined) => CommandContext
  readonly stdout: Output
  /** Where a view that stays open moves the cursor. What it shows it cleans itself. */
  readonly terminalOutput: Output
}

/** Loads and runs a command, prints its result, and returns the exit code. */
export async function runCommand(
  invocation: Invocation,
  options: GlobalOptions,
  program: Program,
  { contextNow, stdout, terminalOutput }: World,
): Promise<0 | 1> {
  const run = (await COMMANDS[invocation.command].load()) as RunCommand
  const { json, quiet } = options
  const now = (root = options.root): CommandContext => {
    const context = contextNow(root)
    // A question would end up in the middle of the document.
    return json ? { ...context, terminal: undefined } : context
  }
  const context = now()
  const paint = await painterFor(stdout, context.environment.NO_COLOR)
  const surroundings = {
    ...{ json, quiet, paint, stdout, terminalOutput, contextNow: now, program },
    freeCommands: freeCommands(),
  }
  const outcome = await run(context, invocation.arguments as never, invocation.options as never, surroundings)
  if (typeof outcome === 'number') return outcome
  printResult(outcome, options, stdout)
  return outcome.exitCode
}
