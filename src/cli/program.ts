import type { CommandUnknownOpts, Command as TypedCommand } from '@commander-js/extra-typings'
import { Command } from 'commander'
import { PostflightError } from '../kernel/errors.ts'
import type { Output } from '../views/print.ts'
import { type BareCommand, type Declaration, type GlobalOptions, invalidValue } from './command.ts'
import { COMMANDS, type CommandName, type Invocation } from './commands/command-list.ts'

export interface ProgramPorts {
  readonly version: string
  readonly stdout: Output
  readonly run: (invocation: Invocation, options: GlobalOptions, program: Program) => Promise<void>
}

export type Program = ReturnType<typeof bareProgram>

/** Only types of that package are used, so it costs nothing at the start. */
const StrictCommand = Command as unknown as typeof TypedCommand

const EXAMPLES = `
Examples:
  $ postflight create 259 prove_completeness --skill skill-lean-research --operation research
  $ postflight create 259 --operation implement --step "update status" --step "git commit"
  $ postflight step 259 "git commit"
  $ postflight clear 259
  $ postflight inspect
  $ postflight init

Exit codes: 0 success, 1 negative result, 64 usage error, 65 invalid data,
70 internal error, 73 cannot write.`

/** In characters, without a terminal. */
const HELP_WIDTH = 80

const HELP_COMMAND = ['help [command]', 'show the help of a command'] as const

function bareProgram(version: string, stdout: Output) {
  return new StrictCommand('postflight')
    .description('Keeps AI coding agents going until their postflight is done.')
    .version(version, '-V, --version', 'print the version')
    .option('--root <folder>', 'the project: the folder that holds specs/ (default: found from the current folder)')
    .option('--json', 'print one JSON document')
    .option('--quiet', 'print only errors, and what scripts need (the id from create)')
    .helpOption('-h, --help', 'show help')
    .helpCommand(...HELP_COMMAND)
    .configureHelp({
      showGlobalOptions: true,
      // commander's own 40 would leave the help of a terminal with 75 columns unwrapped.
      minWidthToWrap: 20,
      // The default of a flag (off) or a list (empty) needs no mention.
      optionDescription: ({ description, defaultValue, defaultValueDescription = defaultValue }) =>
        typeof defaultValueDescription === 'string' || typeof defaultValueDescription === 'number'
          ? `${description} (default: ${defaultValueDescription})`
          : description,
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

const FIRST_STEPS = `
First steps:
  $ postflight workflow validate flow.yaml
  $ postflight workflow start 259 my_slug --definition flow.yaml
  $ postflight workflow status 259 --watch

With the stop hook, the agent that ran \`start\` gets the next prompt whenever it
ends its turn. On OpenCode, it calls the tool \`workflow_run\`. Without either, it
asks for each prompt: \`postflight workflow next 259 --json\`. To look at a run,
use \`status\`: \`next\` counts an attempt if the last prompt left no result.`

const WORKFLOW = 'workflow '

/** The overview does not show the commands of `workflow`. commander throws instead of exiting. */
export function buildProgram(ports: ProgramPorts, only?: CommandName | 'overview'): Program {
  const program = bareProgram(ports.version, ports.stdout)
  const names = only === undefined || only === 'overview' ? (Object.keys(COMMANDS) as CommandName[]) : [only]
  const ofRuns = names.filter((name) => name.startsWith(WORKFLOW))
  for (const name of names.filter((one) => !ofRuns.includes(one))) {
    // In the help, `hook` follows `explain`.
    if (name === 'logs') addHook(program)
    addCommand(program, name, program, ports)
  }
  if (ofRuns.length === 0) return program
  const words = ofRuns.map((name) => name.slice(WORKFLOW.length)).join(', ')
  const workflow = program.command('workflow').addHelpText('after', FIRST_STEPS)
  workflow.helpCommand(...HELP_COMMAND).description(`run a workflow of phases and steps: ${words}`)
  for (const name of only === 'overview' ? [] : ofRuns) addCommand(workflow, name, program, ports)
  return program
}

function addCommand(parent: CommandUnknownOpts, name: CommandName, program: Program, ports: ProgramPorts): void {
  const { declare, description, examples, notes = [], hidden = false }: Declaration = COMMANDS[name].declaration
  const command = declare(parent.command(name.replace(WORKFLOW, ''), { hidden }) as unknown as BareCommand)
  command.description(description)
  for (const text of [exampleText(examples), ...notes]) command.addHelpText('after', text)
  // commander reports a missing option before an unknown one: for the typo `--definiton` that would be the wrong error.
  const required = command.options.filter(({ mandatory }) => mandatory)
  for (const option of required) option.makeOptionMandatory(false)
  command.action(async () => {
    const options = command.opts()
    const missing = required.find((option) => options[option.attributeName()] === undefined)
    if (missing !== undefined) {
      const detail = `Missing option ${missing.flags}. See \`postflight ${name} --help\`.`
      throw new PostflightError('usage', { detail })
    }
    // As from an unset variable of the shell: resolved, it would be the current folder.
    const empty = command.options.find((one) => one.flags.endsWith('<file>') && options[one.attributeName()] === '')
    if (empty !== undefined) throw invalidValue(empty.long ?? empty.flags, '', 'takes the name of a file')
    const { root, json = false, quiet = false } = program.opts()
    await ports.run({ command: name, arguments: command.processedArgs, options }, { root, json, quiet }, program)
  })
}

function exampleText(commands: readonly string[]): string {
  return `\nExample${commands.length === 1 ? '' : 's'}:\n${commands.map((command) => `  $ postflight ${command}`).join('\n')}`
}

/** bin/postflight.js starts the hook's bundle without loading this program. */
function addHook(program: Program): void {
  program
    .command('hook')
    .description('run the hook: payload on stdin, answer on stdout')
    .addHelpText('after', exampleText(['hook < payload.json']))
    .action(() => {
      throw new PostflightError('usage', { detail: 'Start the hook as `postflight hook`, without another command.' })
    })
}
