import { PostflightError } from '../../kernel/errors.ts'
import { OPTION_EXPECTATIONS } from '../usage-messages.ts'
import type { Program, Run } from './bare-program.ts'
import { example } from './help-example.ts'
import { requireOption } from './option-parsing.ts'

/** Declares the commands by which a person steers a run: `postflight workflow approve`, `reject`, `retry`, `skip`. */

const APPROVAL_NOTE = `
A run waits for this at a phase with "approve: true". Only a person can do it: the command refuses to run in an agent's shell.`

/** Adds the commands to `postflight workflow`. */
export function addSteeringCommands(workflow: ReturnType<Program['command']>, run: Run): void {
  const task = ['<task>', 'task number or folder name'] as const
  workflow
    .command('approve')
    .description('approve the result of a phase, so that the run goes on')
    .argument(...task)
    .option('--note <text>', 'what the next phase should know')
    .addHelpText('after', example('workflow approve 259', 'workflow approve 259 --note "use the existing table"'))
    .addHelpText('after', APPROVAL_NOTE)
    .action((name, options) => run({ command: 'workflow approve', arguments: [name], options }))
  workflow
    .command('reject')
    .description('reject the result of a phase: the agent is asked for another one')
    .argument(...task)
    .option('--reason <text>', 'why; it is part of the next prompt')
    .addHelpText('after', example('workflow reject 259 --reason "step 3 lacks a test"'))
    .addHelpText('after', APPROVAL_NOTE)
    .action((name, { reason }) =>
      run({
        command: 'workflow reject',
        arguments: [name],
        options: { reason: requireOption('--reason <text>', reason, 'workflow reject') },
      }),
    )
  workflow
    .command('retry')
    .description('try a step again that was given up, with all its attempts')
    .argument(...task)
    .option('--step <number>', 'the step of the current phase, from 1')
    .addHelpText('after', example('workflow retry 259 --step 3'))
    .action((name, { step }) =>
      run({ command: 'workflow retry', arguments: [name], options: { step: stepNumber(step, 'workflow retry') } }),
    )
  workflow
    .command('skip')
    .description('give up a step, and go on without it')
    .argument(...task)
    .option('--step <number>', 'the step of the current phase, from 1')
    .addHelpText('after', example('workflow skip 259 --step 3'))
    .action((name, { step }) =>
      run({ command: 'workflow skip', arguments: [name], options: { step: stepNumber(step, 'workflow skip') } }),
    )
}

/** @throws {PostflightError} `usage`, `value-invalid`. */
function stepNumber(value: string | undefined, command: string): number {
  const step = requireOption('--step <number>', value, command)
  if (!/^[1-9]\d{0,3}$/.test(step)) {
    throw new PostflightError('value-invalid', {
      option: '--step',
      value: step,
      expected: OPTION_EXPECTATIONS.stepNumber,
    })
  }
  return Number(step)
}
