import type { Command as TypedCommand } from '@commander-js/extra-typings'
import { Command } from 'commander'
import { PostflightError } from '../core/errors.ts'
import { OPTION_EXPECTATIONS, USAGE_TEXT } from '../core/messages/usage.ts'
import { example } from './help-examples.ts'
import type { GlobalOptions, Invocation } from './invocation.ts'
import type { Output } from './report.ts'
import { requireOption } from './required-option.ts'
import { addSettingsCommands } from './settings-program.ts'
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

/** Runs an invocation. */
export type Run = (invocation: Invocation) => Promise<void>

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
  const run: Run = (invocation) => {
    const { root, json = false, quiet = false } = program.opts()
    return ports.run(invocation, { root, json, quiet })
  }
  addMarkerCommands(program, run)
  addHookCommands(program, run)
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
      // The catch in main.ts prints usage errors.
      writeErr: () => {},
      // commander would ask process.stdout, which takes Node 2 ms to make. The help has no colours.
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      getOutHelpWidth: () => stdout.columns ?? HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
    })
}

function addMarkerCommands(program: Program, run: Run): void {
  program
    .command('create')
    .description('create the marker of a pending postflight')
    .argument('<task>', 'task number or folder name')
    .argument('[slug]', 'name for a new task folder')
    .option('--skill <name>', 'name of the skill')
    .option('--operation <name>', 'name of the operation: research, plan, implement, …')
    .option('--reason <text>', 'what the agent is told when it stops too early')
    .option('--step <name>', 'a step of the checklist; can be repeated', collect, [])
    .option('--session-id <id>', "the skill's own session id (default: generated)")
    .option('--host-session <id>', "the host's id of the conversation (default: from the environment)")
    .option('--agent <id>', '"main" or the id of the sub-agent (default: from the environment, or learnt by the hook)')
    .option('--agent-type <type>', 'block only sub-agents of this type')
    .option('--force', "replace another session's or another agent's marker", false)
    .addHelpText(
      'after',
      example(
        'create 259 prove_completeness --skill skill-lean-research --operation research',
        'create 259 --step "update status" --step "git commit" --agent main',
        'create 259 --operation plan --force',
      ),
    )
    .action((task, slug, options) => run({ command: 'create', arguments: [task, slug], options }))
  program
    .command('clear')
    .description('remove the marker: its postflight is done or no longer wanted')
    .argument('[task]', 'task number or folder name; "." for specs/ itself')
    .option('--all', 'every task', false)
    .option('--orphaned', 'every task that no session will come back for: abandoned, expired, left behind', false)
    .option('--return-meta', 'also remove .return-meta.json', false)
    .option('--dry-run', 'only print what would be removed', false)
    .addHelpText('after', example('clear 259', 'clear --orphaned --dry-run'))
    .action((task, options) => run({ command: 'clear', arguments: [task], options }))
  program
    .command('inspect')
    .description('list every marker: state, owner, age, count, checklist and problems')
    .argument('[task]', 'only this task')
    .option('--exit-code', 'exit with 1 if any marker is pending', false)
    .addHelpText('after', example('inspect', 'inspect 259 --json', 'inspect --exit-code --quiet'))
    .action((task, options) => run({ command: 'inspect', arguments: [task], options }))
  program
    .command('step')
    .description('tick a step of the checklist')
    .argument('<task>', 'task number or folder name')
    .argument('<step>', 'its number or its name')
    .option('--undo', 'remove the tick', false)
    .addHelpText('after', example('step 259 2', 'step 259 "git commit"', 'step 259 2 --undo'))
    .action((task, step, options) => run({ command: 'step', arguments: [task, step], options }))
  program
    .command('wait')
    .description('announce that you stop to wait: for a person, or for work in the background')
    .argument('<task>', 'task number or folder name')
    .option('--for <text>', 'what you wait for')
    .option('--host-session <id>', "the host's id of the conversation (default: from the environment)")
    .addHelpText('after', example('wait 259 --for "go-ahead to deploy"', 'wait 259 --for "the build to finish"'))
    .action((task, options) => {
      const purpose = requireOption('--for <text>', options.for, 'wait')
      return run({ command: 'wait', arguments: [task], options: { ...options, for: purpose } })
    })
  program
    .command('bypass')
    .description('allow the next stop of any agent (emergency)')
    .argument('[task]', 'task number or folder name; "." for specs/ itself')
    .option('--all', 'every marker', false)
    .addHelpText('after', example('bypass 259', 'bypass --all'))
    .action((task, options) => run({ command: 'bypass', arguments: [task], options }))
  program
    .command('adopt')
    .description("take over another session's marker, or an abandoned one")
    .argument('<task>', 'task number or folder name')
    .option('--host-session <id>', "the host's id of the conversation (default: from the environment)")
    .option('--agent <id>', '"main" or the id of the sub-agent')
    .addHelpText('after', example('adopt 259', 'adopt 259 --host-session 5f0c1f2e-…'))
    .action((task, options) => run({ command: 'adopt', arguments: [task], options }))
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

/** Collects the values of an option that can be repeated. */
export function collect(value: string, previous: readonly string[]): string[] {
  return [...previous, value]
}

/** @throws {PostflightError} `value-invalid`. */
function wholeNumber(option: string, value: string): number {
  if (!/^\d+$/.test(value)) {
    throw new PostflightError('value-invalid', { option, value, expected: OPTION_EXPECTATIONS.wholeNumber })
  }
  return Number(value)
}
