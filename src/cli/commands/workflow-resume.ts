import * as z from 'zod/mini'
import { PostflightError } from '../../kernel/errors.ts'
import { inLine, quote } from '../../kernel/text.ts'
import { recordInJournal } from '../../project/command-context.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import { endEntries } from '../../run/drive.ts'
import { resumeRun } from '../../run/store/run.ts'
import { commandsOfRun, requireTrust, trustRun } from '../../run/store/run-trust.ts'
import { requireState } from '../../run/store/state-store.ts'
import * as field from '../../views/documents.ts'
import { runDocument } from '../../views/run-view.ts'
import { type Declaration, HOST_SESSION, PARENT_SESSION, type Run, remoteOption, TASK } from '../command.ts'
import { publishChange, requireRunFolder, runnerOf, runResult, withRemote } from '../runs.ts'
import { driverLines } from '../workflow/driver-check.ts'

const SHARED_NOTE = `
With --shared, <task> may also be the id of the run. Its commands, and prompts
that are not those of this checkout, need --trust. Only a person can --take a
run: the command refuses to do it in an agent's shell.`

export const declaration = {
  description: 'continue a run that was stopped or is stuck, or whose session has ended',
  examples: ['workflow resume 259', 'workflow resume 259 --from plan', 'workflow resume 259 --shared'],
  notes: [SHARED_NOTE],
  declare: (command) =>
    command
      .argument(...TASK)
      .option(...HOST_SESSION)
      .option(...PARENT_SESSION)
      .option(
        '--from <phase>',
        'go back to a phase that was entered before: that phase and the ones after it are done again',
      )
      .option(
        '--trust',
        'trust the commands of the run, and with --shared its prompts, even if you did not start it on this machine',
        false,
      )
      .addOption(
        remoteOption(
          '--shared [remote]',
          `fetch a shared run from a git remote, and continue it here (default: origin)`,
        ),
      )
      .option('--take', 'with --shared: take the run from its holder, whose next command ends it there', false),
} satisfies Declaration

export const document = () =>
  z.extend(runDocument(), {
    taken_over_from: field.optionalText('The other session in which it was running until now.'),
  })

export const run: Run<typeof declaration, typeof document> = async (context, [task], options) => {
  const runner = runnerOf(context, options)
  if (options.take && options.shared === undefined) throw new PostflightError('take-alone')
  const fetchRun = async (remote: string): Promise<TaskFolder> => {
    const { takeShared } = await import('../workflow/take-shared.ts')
    return withRemote(context, () => takeShared(context, task, remote, options))
  }
  const folder = options.shared === undefined ? requireRunFolder(context, task) : await fetchRun(options.shared)
  const before = requireState(folder)
  if (options.trust) trustRun(before, context)
  // The session that takes over a run needs no record of its trust.
  if (!options.trust || context.session === undefined) requireTrust(folder, before, context)
  const { state, takenFrom } = resumeRun(folder, runner, context.nowMs, options.from)
  trustRun(state, context)
  // Resuming accepts the results that exist, which may complete the run.
  recordInJournal(context, folder, ...endEntries(folder, { active: true }, state))
  await publishChange(context, folder)
  const { data, lines } = runResult(context, folder, state)
  return {
    data: { ...data, taken_over_from: takenFrom ?? null },
    lines: [
      ...lines,
      ...(options.trust ? commandsOfRun(state).map((run) => `  trusted from now on: ${inLine(run)}`) : []),
      ...(takenFrom === undefined ? [] : [`  taken over from session ${quote(takenFrom, 120)}, where it was running`]),
      ...(state.active ? driverLines(context, folder, state, runner.hostSession) : []),
    ],
  }
}
