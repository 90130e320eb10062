import type { Program, Run } from './bare-program.ts'
import { example } from './help-example.ts'
import { CHECK_SECONDS, collect, requireOption, timeoutMs } from './option-parsing.ts'
import { addSteeringCommands } from './steering.ts'

/** Declares `postflight workflow …`. */

const FIRST_STEPS = `
First steps:
  $ postflight workflow validate flow.yaml
  $ postflight workflow start 259 --definition flow.yaml
  $ postflight workflow status 259 --watch

With the stop hook installed, the agent that ran \`start\` ends its turn and gets one prompt after another.
On OpenCode, the agent calls the tool \`workflow_run\`.
Without either, the agent asks for each prompt: \`postflight workflow next 259 --json\`.
To look at a run, use \`status\`: \`next\` counts an attempt if the last prompt left no result.`

const EXIT_CODES = `
Exit code: 0 while the run goes on and after it has completed; 1 if it was stopped, stalled, failed or was aborted.`

const NEXT_NOTE = `
For the agent that does the work: if the last prompt left no result, this counts an attempt. To look at a run, use
\`postflight workflow status\`.`

const DEFINITION = 'a definition file (JSON or YAML), or the name of a shipped example'

/** Adds the commands about workflows. */
export function addWorkflowCommands(program: Program, run: Run): void {
  const workflow = program.command('workflow').addHelpText('after', FIRST_STEPS)
  const task = ['<task>', 'task number or folder name'] as const
  const definition = ['<definition>', DEFINITION] as const
  workflow
    .command('validate')
    .description('check a definition: print every fault and warning, with line and column')
    .argument(...definition)
    .addHelpText('after', example('workflow validate flow.yaml', 'workflow validate spec-kit --json'))
    .action((named) => run({ command: 'workflow validate', arguments: [named], options: {} }))
  workflow
    .command('start')
    .description('start a workflow in a task folder, for this host session')
    .argument(...task)
    .argument('[slug]', 'name for a new task folder')
    .option('--definition <file>', DEFINITION)
    .option('--host-session <id>', "the host's id of the conversation (default: from the environment)")
    .option('--parent-session <id>', 'the session that its prompts belong to (default: the host session)')
    .option('--set <name=value>', 'the value of an input of the workflow (repeatable)', collect, [])
    .option('--fresh', 'first set the ended run aside, with its results', false)
    .addHelpText(
      'after',
      example(
        'workflow start 259 --definition flow.yaml',
        'workflow start 259 my_slug --definition flow.yaml',
        'workflow start 1 --definition spec-kit',
        'workflow start 259 --definition flow.yaml --set issue=42',
        'workflow start 259 --definition flow.yaml --fresh',
      ),
    )
    .action((name, slug, { definition, ...options }) =>
      run({
        command: 'workflow start',
        arguments: [name, slug],
        options: { ...options, definition: requireOption('--definition <file>', definition, 'workflow start') },
      }),
    )
  workflow
    .command('status')
    .description('show a run, or every run')
    .argument('[task]', 'only this task')
    .option('--watch', 'keep the output on the screen, up to date, until the run has ended (or q, Ctrl-C)', false)
    .addHelpText(
      'after',
      example(
        'workflow status',
        'workflow status 259 --watch',
        'workflow status 259 --watch --quiet && echo it was completed',
      ),
    )
    .addHelpText(
      'after',
      `${EXIT_CODES}\nWith several runs: 1 if that is true of any of them, or if one cannot be read.`,
    )
    .action((name, options) => run({ command: 'workflow status', arguments: [name], options }))
  workflow
    .command('next')
    .description('check the results of the last prompt, and print the next one')
    .argument(...task)
    .option('--peek', 'only print the prompt that is due now; counts no attempt and writes nothing', false)
    .option('--timeout <seconds>', 'the time that the check of a phase may take', CHECK_SECONDS)
    .addHelpText('after', example('workflow next 259 --json', 'workflow next 259 --peek'))
    .addHelpText('after', NEXT_NOTE)
    .addHelpText('after', EXIT_CODES)
    .action((name, { timeout, ...options }) =>
      run({
        command: 'workflow next',
        arguments: [name],
        options: { ...options, timeout: timeoutMs(timeout) },
      }),
    )
  workflow
    .command('check')
    .description('run the check of the current phase (check.run)')
    .argument(...task)
    .option('--timeout <seconds>', 'the time that it may take', CHECK_SECONDS)
    .addHelpText('after', example('workflow check 259', 'workflow check 259 --timeout 1800'))
    .action((name, { timeout }) =>
      run({
        command: 'workflow check',
        arguments: [name],
        options: { timeout: timeoutMs(timeout) },
      }),
    )
  workflow
    .command('stop')
    .description('stop a run: no further prompt; it ends when its agent ends its turn. resume continues it')
    .argument(...task)
    .option('--now', 'stop it immediately; a result that the last prompt still produces counts after `resume`', false)
    .addHelpText('after', example('workflow stop 259', 'workflow stop 259 --now'))
    .action((name, options) => run({ command: 'workflow stop', arguments: [name], options }))
  workflow
    .command('resume')
    .description('continue a run that was stopped or is stuck, or whose session has ended')
    .argument(...task)
    .option('--host-session <id>', "the host's id of the conversation (default: from the environment)")
    .option('--parent-session <id>', 'the session that its prompts belong to (default: the host session)')
    .option(
      '--from <phase>',
      'go back to this phase, which was entered before: it and the phases after it are done again',
    )
    .option('--trust', 'trust the commands of its checks, although you did not start them on this machine', false)
    .addHelpText('after', example('workflow resume 259', 'workflow resume 259 --from plan'))
    .action((name, options) => run({ command: 'workflow resume', arguments: [name], options }))
  workflow
    .command('abort')
    .description('end a run at once, for good')
    .argument(...task)
    .addHelpText('after', example('workflow abort 259'))
    .action((name) => run({ command: 'workflow abort', arguments: [name], options: {} }))
  addSteeringCommands(workflow, run)
  workflow
    .command('history')
    .description('list every transition of a run')
    .argument(...task)
    .addHelpText('after', example('workflow history 259', 'workflow history 259 --json'))
    .action((name) => run({ command: 'workflow history', arguments: [name], options: {} }))
  workflow
    .command('simulate')
    .description(
      'walk through a definition with given outcomes, and print its path and its number of prompts; writes nothing',
    )
    .argument(...definition)
    .option(
      '--fail <phase:count>',
      'let the first COUNT attempts fail; PHASE/STEP:COUNT for a step (repeatable)',
      collect,
      [],
    )
    .option(
      '--case <phase=case>',
      'the verdict of a phase with cases (default: its first case; repeatable)',
      collect,
      [],
    )
    .option(
      '--steps <phase=count>',
      'the number of steps that a phase takes from a file (default: 3; repeatable)',
      collect,
      [],
    )
    .option('--set <name=value>', 'the value of an input of the workflow (repeatable)', collect, [])
    .addHelpText(
      'after',
      example('workflow simulate four-phases', 'workflow simulate flow.yaml --fail validate:1 --json'),
    )
    .action((named, options) => run({ command: 'workflow simulate', arguments: [named], options }))
  workflow
    .command('graph')
    .description('print a Mermaid diagram of a definition, or of a run, coloured by its state')
    .argument(
      '<definition-or-task>',
      'a task number or folder name, a definition file, or the name of a shipped example',
    )
    .addHelpText(
      'after',
      example('workflow graph flow.yaml', 'workflow graph spec-kit', 'workflow graph 259 > run.mmd'),
    )
    .action((target) => run({ command: 'workflow graph', arguments: [target], options: {} }))
  const names = workflow.commands.map((command) => command.name())
  workflow.description(`run a workflow of phases and steps: ${names.join(', ')}`)
}
