import { commandLine } from '../../kernel/command-line.ts'
import { messageOf } from '../../kernel/errors.ts'
import { inLine, shellWord } from '../../kernel/text.ts'
import { displayPath, findCommandRoot, recordInJournal } from '../../project/command-context.ts'
import { inTaskFolder, newRootFolder } from '../../project/new-task-folder.ts'
import { definitionSize } from '../../run/definition/bound.ts'
import { givenInputs, inputValues } from '../../run/definition/definition.ts'
import { definitionName } from '../../run/shared/own-definition.ts'
import { findDefinition } from '../../run/store/find-definition.ts'
import { requireDefinition } from '../../run/store/load-definition.ts'
import { listedIn } from '../../run/store/observe-run.ts'
import { startRun } from '../../run/store/run.ts'
import { trustRun } from '../../run/store/run-trust.ts'
import { runEntry } from '../../run/store/state-store.ts'
import { type RunDocument, runData } from '../../views/run-view.ts'
import type { Declaration, Run } from '../command.ts'
import { DEFINITION, HOST_SESSION, PARENT_SESSION, remoteOption, SET, TASK } from '../command.ts'
import { publishEnd, publishNow, runnerOf } from '../runs.ts'
import { driverLines } from '../workflow/driver-check.ts'

export const declaration = {
  description: 'start a workflow in a task folder, for this host session',
  examples: [
    'workflow start 259 --definition flow.yaml',
    'workflow start 259 my_slug --definition flow.yaml',
    'workflow start 1 --definition spec-kit --set "feature=albums of photos"',
    'workflow start 259 --definition flow.yaml --fresh',
    'workflow start 259 --definition flow.yaml --share',
  ],
  declare: (command) =>
    command
      .argument(...TASK)
      .argument('[slug]', 'name for a new task folder')
      .requiredOption('--definition <file>', DEFINITION)
      .option(...HOST_SESSION)
      .option(...PARENT_SESSION)
      .option(...SET)
      .addOption(
        remoteOption(
          '--share [remote]',
          'publish the run to this git remote, so that another machine can continue it (default: origin)',
        ),
      )
      .option('--fresh', 'first set the ended run aside, with its results', false),
} satisfies Declaration

export { runDocument as document } from '../../views/run-view.ts'

export const run: Run<typeof declaration, RunDocument> = async (context, [task, slug], options) => {
  const runner = runnerOf(context, options)
  const file = findDefinition(context, options.definition)
  const definition = requireDefinition(file, displayPath(context, file))
  // Checked before a folder is made for the task.
  const inputs = inputValues(definition, givenInputs(options.set))
  if (options.share !== undefined) {
    const { gitCall } = await import('../../run/shared/publish-run.ts')
    const { requireRemote } = await import('../../run/shared/ref-store.ts')
    await requireRemote(gitCall(findCommandRoot(context) ?? newRootFolder(context)), options.share)
  }
  const { folder, state, aside } = await inTaskFolder(
    context,
    task,
    slug,
    (missing) =>
      `${commandLine(['workflow', 'start', task, missing], context.rootOption)} --definition ${shellWord(options.definition)}`,
    async (folder) => {
      if (options.fresh) await publishEnd(context, folder)
      const started = startRun(folder, definition, {
        ...runner,
        nowMs: context.nowMs,
        fresh: options.fresh,
        inputs,
        definitionFile: definitionName(file, { root: folder.root, packageFolder: context.packageFolder }),
      })
      return { folder, ...started }
    },
  )
  trustRun(state, context)
  recordInJournal(context, folder, runEntry(folder, state, `started: ${state.name}`))
  // The run has started, so a failure is a note.
  const noted = (error: unknown): readonly string[] => {
    context.note(messageOf(error, context.rootOption))
    return []
  }
  const shared = options.share === undefined ? [] : await publishNow(context, folder, options.share).catch(noted)
  const data = runData(folder, state, context.nowMs)
  const shown = inLine(folder.relative)
  const size = definitionSize(definition, data.prompt_bound ?? 0, listedIn(folder))
  return {
    data,
    lines: [
      `started "${inLine(state.name)}" in ${shown}: ${size}`,
      ...(aside === undefined
        ? []
        : [`  files of an earlier run are now in ${shown}/${aside}: they do not count for this one`]),
      ...shared,
      ...driverLines(context, folder, state, runner.hostSession),
    ],
  }
}
