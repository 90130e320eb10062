import * as z from 'zod/mini'
import { inLine } from '../../kernel/text.ts'
import type { CommandContext, CommandResult } from '../../project/command-context.ts'
import { DRIVER_TEXT } from '../../run/run-messages.ts'
import { resumeRun } from '../../run/store/run.ts'
import { commandsOfRun, requireTrust, trustRun } from '../../run/store/run-trust.ts'
import { requireState } from '../../run/store/state-store.ts'
import * as field from '../../views/documents.ts'
import { runDocument } from '../../views/run-view.ts'

import {
  type ArgumentsOf,
  type BareCommand,
  type Declaration,
  example,
  HOST_SESSION,
  type OptionsOf,
  PARENT_SESSION,
  type Surroundings,
  TASK,
} from '../command.ts'
import { recordEnd, requireRunFolder, runnerOf, runResult, trusterOf } from '../runs.ts'
import { driverLines } from '../workflow/driver-check.ts'

export const declaration = {
  declare: (command: BareCommand) =>
    command
      .description('continue a run that was stopped or is stuck, or whose session has ended')
      .argument(...TASK)
      .option(...HOST_SESSION)
      .option(...PARENT_SESSION)
      .option(
        '--from <phase>',
        'go back to this phase, which was entered before: it and the phases after it are done again',
      )
      .option('--trust', 'trust the commands of its checks, although you did not start them on this machine', false)
      .addHelpText('after', example('workflow resume 259', 'workflow resume 259 --from plan')),
} satisfies Declaration

/** `postflight workflow resume --json`. */
export const document = () =>
  z.extend(runDocument(), {
    taken_over_from: field.optionalText('The other session in which it was running until now.'),
  })

type ResumeDocument = field.DocumentOf<typeof document>

type ResumeOptions = OptionsOf<typeof declaration>

/**
 * `postflight workflow resume`: resumes a run for the session of the caller. If that session is unknown, the run keeps
 * its own.
 */
export function run(
  context: CommandContext,
  [task]: ArgumentsOf<typeof declaration>,
  options: ResumeOptions,
  { paint }: Surroundings,
): CommandResult<ResumeDocument> {
  const runner = runnerOf(context, options)
  const folder = requireRunFolder(context, task)
  const truster = trusterOf(context)
  if (!options.trust) requireTrust(folder, requireState(folder), truster)
  const { state, takenFrom } = resumeRun(folder, runner, context.nowMs, options.from)
  trustRun(state, truster)
  // Resuming takes in the results that are there, which may be all of them.
  recordEnd(context, folder, true, state)
  const { exitCode, data, lines } = runResult(context, paint, folder, state)
  return {
    exitCode,
    data: { ...data, taken_over_from: takenFrom ?? null },
    lines: [
      ...lines,
      ...(options.trust ? commandsOfRun(state).map(trustedLine) : []),
      ...(takenFrom === undefined ? [] : [`  ${DRIVER_TEXT.takenFrom(takenFrom)}`]),
      ...(state.active ? driverLines(context, folder, state, runner.hostSession) : []),
    ],
  }
}

/** What `resume --trust` prints for each command. */
export function trustedLine(run: string): string {
  return `  trusted from now on: ${inLine(run)}`
}
