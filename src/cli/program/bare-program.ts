import type { Command as TypedCommand } from '@commander-js/extra-typings'
import { Command } from 'commander'
import type { Output } from '../../views/print.ts'
import type { Invocation } from '../invocation.ts'

/** The program without its commands: its name, its help, and the options that every command takes. */

/** The program. Its options are those that every command takes. */
export type Program = ReturnType<typeof bareProgram>

/** Runs an invocation. `rootOnLine`: the root that the line to complete names. */
export type Run = (invocation: Invocation, rootOnLine?: string) => Promise<void>

/** commander's class with stricter types. Only types of that package are used, so it costs nothing at the start. */
const StrictCommand = Command as unknown as typeof TypedCommand

const EXAMPLES = `
Examples:
  $ postflight create 259 prove_completeness --skill skill-lean-research --operation research
  $ postflight create 259 --operation implement --step "update status" --step "git commit"
  $ postflight step 259 "git commit"
  $ postflight clear 259
  $ postflight inspect
  $ postflight init

Exit codes: 0 success, 1 negative result, 64 usage error, 65 invalid data, 70 internal error, 73 cannot write.`

/** The width of help without a terminal, in characters. */
const HELP_WIDTH = 80

/** The program to which the commands are added. It never ends the process. */
export function bareProgram(version: string, stdout: Output) {
  return new StrictCommand('postflight')
    .description('Keeps AI coding agents going until their postflight is done.')
    .version(version, '-V, --version', 'print the version')
    .option('--root <folder>', 'the project: the folder that holds specs/ (default: found from the current folder)')
    .option('--json', 'print one JSON document')
    .option('--quiet', 'print only errors, and what scripts need (the id from create)')
    .helpOption('-h, --help', 'show help')
    .configureHelp({
      showGlobalOptions: true,
      // The default of a flag (off) or a list (empty) needs no mention.
      optionDescription: (option) =>
        typeof option.defaultValue === 'string'
          ? `${option.description} (default: ${option.defaultValue})`
          : option.description,
    })
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      // The catch in main.ts prints usage errors.
      writeErr: () => {},
      // commander would ask process.stdout, which takes Node 2 ms to make. The help has no colours.
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      getOutHelpWidth: () => stdout.columns ?? HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
    })
}
