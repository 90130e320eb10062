import * as z from 'zod/mini'
import { oneLine, stripControl } from '../../kernel/text.ts'
import { readMarker } from '../../marker/marker-file.ts'
import { type CommandContext, type CommandResult, findCommandRoot } from '../../project/command-context.ts'
import { findTaskFolder } from '../../project/find-task-folder.ts'
import { SPECS_ITSELF, type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { listTaskFolders } from '../../project/task-folders.ts'
import { stepAsText } from '../../run/definition/step.ts'
import { stepAt } from '../../run/machine/position.ts'
import { listExamples } from '../../run/store/find-definition.ts'
import { readState } from '../../run/store/state-store.ts'
import type { DocumentOf } from '../../views/documents.ts'
import * as field from '../../views/documents.ts'
import { type ArgumentsOf, type BareCommand, type Declaration, example, type Surroundings } from '../command.ts'
import { type Candidate, type CompletionRequest, completionRequest, type Wanted } from '../completion/request.ts'

/** `postflight complete`: answers the questions of the scripts of `completion`. */

export const declaration = {
  hidden: true,
  declare: (command: BareCommand) =>
    command
      .description('print the words that may follow, for the scripts of `completion`')
      .argument('[words...]', 'the words of the line, the last one unfinished')
      .addHelpText('after', example('complete -- workflow st')),
} satisfies Declaration

/** `postflight complete --json`. */
export const document = () =>
  z.strictObject({
    words: z.array(
      z.strictObject({ value: field.text('A word that may follow.'), description: field.text('What it means.') }),
    ),
    files: field.flag('True if a file may follow too.'),
  })

type CompleteDocument = DocumentOf<typeof document>

/** The words that may follow on an unfinished command line; outside a project, those that do not need one. */
export function run(
  _context: CommandContext,
  [words]: ArgumentsOf<typeof declaration>,
  _options: unknown,
  { program, contextNow }: Surroundings,
): CommandResult<CompleteDocument> {
  const request = completionRequest(program, words)
  const context = contextNow(request.root)
  const { candidates, wants, current, prefix } = request
  const known = wants.flatMap((wanted) => candidatesFor(context, request, wanted))
  const matching = [...candidates, ...known].filter(({ value }) => value.startsWith(current))
  const unique = [...new Map(matching.map((one) => [one.value, one])).values()]
  const offered = unique
    // A line break or a tab would be read as the end of the word.
    .filter(({ value }) => stripControl(value) === value && !/[\n\t]/.test(value))
    .map(({ value, description }) => ({ value: `${prefix}${value}`, description: oneLine(description, 80) }))
  const files = wants.includes('file')
  const lines = [...offered.map(({ value, description }) => `${value}\t${description}`), ...(files ? [':files'] : [])]
  return { exitCode: 0, data: { words: offered, files }, lines, essential: lines }
}

function candidatesFor(context: CommandContext, { task }: CompletionRequest, wanted: Wanted): Candidate[] {
  if (wanted === 'file') return []
  try {
    if (wanted === 'example') return examples(context)
    const root = findCommandRoot(context)
    if (root === undefined) return []
    if (wanted === 'task') return tasks(root)
    const folder = task === undefined ? undefined : findTaskFolder(root, task)
    if (folder === undefined) return []
    return FINDERS[wanted](folder)
  } catch {
    // For a folder that cannot be read, or an ambiguous task, nothing is offered.
    return []
  }
}

function examples({ packageFolder }: CommandContext): Candidate[] {
  return listExamples(packageFolder).map(({ name }) => ({ value: name, description: 'a shipped example' }))
}

function tasks(root: string): Candidate[] {
  const folders = listTaskFolders(root).folders.filter(({ task }) => task !== SPECS_ITSELF && !task.startsWith('.'))
  const below = folders.filter(({ task, relative }) => /^\d/.test(task) || relative.split('/').length > 2)
  return below.map((folder) => ({ value: taskWord(folder), description: folder.relative }))
}

/** The facts about a task that are on the disk. */
const FINDERS: Readonly<Record<Exclude<Wanted, 'task' | 'example' | 'file'>, (folder: TaskFolder) => Candidate[]>> = {
  phase: phases,
  step: steps,
  'step-number': stepNumbers,
}

function phases(folder: TaskFolder): Candidate[] {
  const state = readState(folder)
  return (state?.definition.phases ?? []).map(({ id, artifact }) => ({ value: id, description: artifact ?? '' }))
}

function steps(folder: TaskFolder): Candidate[] {
  const read = readMarker(folder)
  const list = read?.kind === 'marker' ? read.marker.steps : []
  return list.map(({ name, done }) => ({ value: name, description: done ? 'done' : '' }))
}

/** The steps of a run's current phase, by their numbers. */
function stepNumbers(folder: TaskFolder): Candidate[] {
  const state = readState(folder)
  if (state?.stepsKnown !== true) return []
  return Array.from({ length: state.totalSteps }, (_, index) => ({
    value: String(index + 1),
    description: stepAsText(stepAt(state, index)),
  }))
}
