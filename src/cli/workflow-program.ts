import { example } from './help-examples.ts'
import type { Program, Run } from './program.ts'

/** Declares `postflight workflow …`. */

const FIRST_STEPS = `
First steps:
  $ postflight workflow validate flow.yaml
  $ postflight workflow start 259 --definition flow.yaml
  $ postflight workflow status 259 --watch

With the stop hook installed, the agent that ran \`start\` ends its turn and is given prompt after prompt.
Without it, ask for each one: \`postflight workflow next 259 --json\`.`

/** Adds the commands. */
export function addWorkflowCommands(program: Program, run: Run): void {
  const workflow = program
    .command('workflow')
    .description(
      'run phases and steps to their end: validate, start, next, status, stop, resume, abort, history, graph',
    )
    .addHelpText('after', FIRST_STEPS)
  const task = ['<task>', 'task number or folder name'] as const
  workflow
    .command('validate')
    .description('every fault of a definition, with line and column, and what is suspicious in it')
    .argument('<file>', 'the definition, JSON or YAML')
    .addHelpText('after', example('workflow validate flow.yaml', 'workflow validate flow.json --json'))
    .action((file) => run({ command: 'workflow validate', arguments: [file], options: {} }))
  workflow
    .command('start')
    .description('start a workflow in a task folder, for this host session')
    .argument(...task)
    .argument('[slug]', 'name of a new task folder')
    .requiredOption('--definition <file>', 'the definition, JSON or YAML')
    .option('--host-session <id>', "the host's id of the conversation (default: from the environment)")
    .option('--parent-session <id>', 'the session that its prompts belong to (default: the host session)')
    .option('--fresh', 'put a run that has ended aside, with all that it left', false)
    .addHelpText(
      'after',
      example(
        'workflow start 259 --definition flow.yaml',
        'workflow start 259 my_slug --definition flow.yaml',
        'workflow start 259 --definition flow.yaml --fresh',
      ),
    )
    .action((name, slug, options) => run({ command: 'workflow start', arguments: [name, slug], options }))
  workflow
    .command('status')
    .description('a picture of the run, or of every run')
    .argument('[task]', 'only this one')
    .option('--watch', 'show it again whenever it changes, until it has ended (or Ctrl-C)', false)
    .addHelpText(
      'after',
      example(
        'workflow status',
        'workflow status 259 --watch',
        'workflow status 259 --watch --quiet && echo it has ended',
      ),
    )
    .action((name, options) => run({ command: 'workflow status', arguments: [name], options }))
  workflow
    .command('next')
    .description('look at what the last prompt left, and print what to dispatch next')
    .argument(...task)
    .addHelpText('after', example('workflow next 259', 'workflow next 259 --json'))
    .action((name) => run({ command: 'workflow next', arguments: [name], options: {} }))
  workflow
    .command('stop')
    .description('stop when the phase that runs is through; resume goes on')
    .argument(...task)
    .addHelpText('after', example('workflow stop 259'))
    .action((name) => run({ command: 'workflow stop', arguments: [name], options: {} }))
  workflow
    .command('resume')
    .description('go on with a run that was stopped, got stuck, or lost its client')
    .argument(...task)
    .option('--host-session <id>', "the host's id of the conversation (default: from the environment)")
    .option('--parent-session <id>', 'the session that its prompts belong to (default: the host session)')
    .addHelpText('after', example('workflow resume 259', 'workflow resume 259 --host-session 5f0c1f2e-…'))
    .action((name, options) => run({ command: 'workflow resume', arguments: [name], options }))
  workflow
    .command('abort')
    .description('end a run at once, for good')
    .argument(...task)
    .addHelpText('after', example('workflow abort 259'))
    .action((name) => run({ command: 'workflow abort', arguments: [name], options: {} }))
  workflow
    .command('history')
    .description('every transition of a run')
    .argument(...task)
    .addHelpText('after', example('workflow history 259', 'workflow history 259 --json'))
    .action((name) => run({ command: 'workflow history', arguments: [name], options: {} }))
  workflow
    .command('graph')
    .description('a Mermaid diagram of a definition, or of a run in the colours of its state')
    .argument('<file-or-task>', 'a definition, or a task number or folder name')
    .addHelpText('after', example('workflow graph flow.yaml', 'workflow graph 259 > run.mmd'))
    .action((target) => run({ command: 'workflow graph', arguments: [target], options: {} }))
}
