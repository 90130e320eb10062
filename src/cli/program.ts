import type { Command as TypedCommand } from '@commander-js/extra-typings'
import { Command } from 'commander'
import { PostflightError } from '../core/errors.ts'
import { OPTION_EXPECTATIONS, USAGE_TEXT } from '../core/messages/usage.ts'
import { example } from './help-examples.ts'
import type { GlobalOptions, Invocation } from './invocation.ts'
import { addMarkerCommands } from './marker-program.ts'
import type { Output } from './report.ts'
import { addSettingsCommands } from './settings-program.ts'
import { addViewCommands } from './view-program.ts'
import { addWorkflowCommands } from './workflow-program.ts'

/** Declares the commands, and turns a command line into an invocation. */

/** The dependencies of the program. */
export interface ProgramPorts {
  readonly version: string
  readonly stdout: Output
  /** Runs the invocation of a command line. */
  readonly run: (invocation: Invocation, options: GlobalOptions) => Promise<void>
}

/** The program. Its options are those that every command takes. */
export type Program = ReturnType<typeof declareProgram>

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

/** The program, ready to parse. It never ends the process. */
export function buildProgram(ports: ProgramPorts): Program {
  const program = declareProgram(ports)
  const run: Run = (invocation, rootOnLine) => {
    const { root = rootOnLine, json = false, quiet = false } = program.opts()
    return ports.run(invocation, { root, json, quiet })
  }
  addMarkerCommands(program, run)
  addHookCommands(program, run)
  addViewCommands(program, run)
  addSettingsCommands(program, run)
  addWorkflowCommands(program, run)
  return program
}

function declareProgram({ version, stdout }: ProgramPorts) {
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
      // The `catch` in main.ts prints usage errors.
      writeErr: () => {},
      // commander would ask process.stdout, which takes Node 2 ms to make. The help has no colours.
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      getOutHelpWidth: () => stdout.columns ?? HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
    })
}

function addHookCommands(program: Program, run: Run): void {
  program
    .command('explain')
    .description("show the hook's answer to a payload, and why; writes nothing")
    .option('--payload <file>', 'the payload file, "-" for stdin (default: an empty payload)')
    .addHelpText(
      'after',
      example(
        `explain --payload - <<< '{"hook_event_name":"Stop","session_id":"5f0c1f2e-…"}'`,
        'explain --payload payload.json --json',
      ),
    )
    .action((options) => run({ command: 'explain', arguments: [], options }))
  program
    .command('hook')
    .description('run the hook: payload on stdin, answer on stdout')
    .addHelpText('after', example('hook < payload.json'))
    // bin/postflight.js starts the hook's bundle without loading this program.
    .action(() => {
      throw new PostflightError('usage', { detail: USAGE_TEXT.hookAlone })
    })
  program
    .command('logs')
    .description('print the journal')
    .option('-n, --count <number>', 'number of entries to print, from the end', '20')
    .option('--follow', 'keep printing new entries until Ctrl-C', false)
    .addHelpText('after', example('logs -n 50', 'logs --follow'))
    .action(({ count, follow }) =>
      run({ command: 'logs', arguments: [], options: { count: wholeNumber('-n', count), follow } }),
    )
}

/** @throws {PostflightError} `value-invalid`. */
function wholeNumber(option: string, value: string): number {
  if (!/^\d+$/.test(value)) {
    throw new PostflightError('value-invalid', { option, value, expected: OPTION_EXPECTATIONS.wholeNumber })
  }
  return Number(value)
}
