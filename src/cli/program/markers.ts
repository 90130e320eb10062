import type { Program, Run } from './bare-program.ts'
import { example } from './help-example.ts'
import { CHECK_SECONDS, collect, requireOption, timeoutMs } from './option-parsing.ts'

/** Declares the commands about markers. */

const WATCH = ['--watch', 'keep the output on the screen, up to date, until q or Ctrl-C', false] as const

/** Adds the commands about markers. */
export function addMarkerCommands(program: Program, run: Run): void {
  program
    .command('create')
    .description('create the marker of a pending postflight')
    .argument('<task>', 'task number or folder name')
    .argument('[slug]', 'name for a new task folder')
    .option('--skill <name>', 'name of the skill')
    .option('--operation <name>', 'name of the operation: research, plan, implement, …')
    .option('--reason <text>', 'the message to the agent when it stops too early')
    .option('--step <name>', 'a step of the checklist (repeatable)', collect, [])
    .option('--session-id <id>', "the skill's own session id (default: generated)")
    .option('--host-session <id>', "the host's id of the conversation (default: from the environment)")
    .option(
      '--agent <id>',
      '"main" or the id of the sub-agent (default: from the environment, or recorded by the hook)',
    )
    .option('--agent-type <type>', 'block only sub-agents of this type')
    .option('--check <command>', 'a shell command that must succeed before `clear` (repeatable)', collect, [])
    .option(
      '--step-check <name=command>',
      'a shell command that must succeed before this step can be ticked (repeatable)',
      collect,
      [],
    )
    .option('--force', "replace another session's or another agent's marker", false)
    .addHelpText(
      'after',
      example(
        'create 259 prove_completeness --skill skill-lean-research --operation research',
        'create 259 --step "update status" --step "git commit" --agent main',
        "create 259 --operation implement --check 'npm test'",
        'create 259 --operation plan --force',
      ),
    )
    .action((task, slug, options) => run({ command: 'create', arguments: [task, slug], options }))
  program
    .command('clear')
    .description('remove the marker: its postflight is done or no longer wanted; settle a workflow that has ended')
    .argument('[task]', 'task number or folder name; "." for specs/ itself')
    .option('--all', 'every task', false)
    .option('--orphaned', 'every task that no session will come back for: abandoned, expired, left behind', false)
    .option('--return-meta', 'also remove .return-meta.json', false)
    .option('--run-checks', 'also run checks that another session set; they are printed first', false)
    .option('--unchecked', 'do not run the checks; a marker with checks is kept as abandoned', false)
    .option('--timeout <seconds>', 'the time that each check may take', CHECK_SECONDS)
    .option('--dry-run', 'only print what would be removed', false)
    .addHelpText('after', example('clear 259', 'clear 259 --timeout 1800', 'clear --orphaned --dry-run'))
    .action((task, { timeout, ...options }) =>
      run({
        command: 'clear',
        arguments: [task],
        options: { ...options, timeout: timeoutMs(timeout) },
      }),
    )
  program
    .command('status')
    .description('show what is unfinished in the project, and what to do (the same as `postflight` alone)')
    .option('--exit-code', 'exit with 1 unless everything is done (for CI)', false)
    .option('--session <id>', 'only what belongs to this session of the host')
    .option(
      '--expect <task>',
      'also exit with 1 unless a marker of this task was made and cleared, or its workflow completed (repeatable)',
      collect,
      [],
    )
    .option('--github', 'print annotations for GitHub Actions', false)
    .option(...WATCH)
    .addHelpText(
      'after',
      example('status', 'status --watch', 'status --exit-code --github --expect 259', 'status --json'),
    )
    .action((options) => run({ command: 'status', arguments: [], options }))
  program
    .command('inspect')
    .description('list every marker: state, owner, age, count, checklist and problems')
    .argument('[task]', 'only this task')
    .option('--exit-code', 'exit with 1 if any marker is pending or abandoned', false)
    .option(...WATCH)
    .addHelpText('after', example('inspect', 'inspect --watch', 'inspect 259 --json', 'inspect --exit-code --quiet'))
    .action((task, options) => run({ command: 'inspect', arguments: [task], options }))
  program
    .command('step')
    .description('tick a step of the checklist')
    .argument('<task>', 'task number or folder name')
    .argument('<step>', 'its number or its name')
    .option('--undo', 'remove the tick', false)
    .option('--run-checks', "also run the step's checks if another session set them; they are printed first", false)
    .option('--timeout <seconds>', 'the time that each check may take', CHECK_SECONDS)
    .addHelpText('after', example('step 259 2', 'step 259 "git commit"', 'step 259 2 --undo'))
    .action((task, step, { timeout, ...options }) =>
      run({
        command: 'step',
        arguments: [task, step],
        options: { ...options, timeout: timeoutMs(timeout) },
      }),
    )
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
