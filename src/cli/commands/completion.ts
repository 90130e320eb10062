import { PostflightError } from '../../kernel/errors.ts'
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
import type { CompleteDocument, CompletionDocument } from '../../views/documents/completion.ts'
import type { Candidate, CompletionRequest, Wanted } from '../completion/request.ts'
import { COMPLETION_SCRIPTS } from '../completion/scripts.ts'
import { OPTION_EXPECTATIONS } from '../usage-messages.ts'

/** `postflight completion`: prints the completion script of a shell. `postflight complete` answers its questions. */

/** @throws {PostflightError} `value-invalid`. */
export function completion(shell: string): CommandResult<CompletionDocument> {
  const names = Object.keys(COMPLETION_SCRIPTS)
  if (!Object.hasOwn(COMPLETION_SCRIPTS, shell)) {
    const expected = OPTION_EXPECTATIONS.oneOf(names)
    throw new PostflightError('value-invalid', { option: '<shell>', value: shell, expected })
  }
  const script = COMPLETION_SCRIPTS[shell as keyof typeof COMPLETION_SCRIPTS]
  const lines = script.trimEnd().split('\n')
  return { exitCode: 0, data: { script }, lines, essential: lines }
}

/** The words that may follow on an unfinished command line; outside a project, those that do not need one. */
export function complete(context: CommandContext, request: CompletionRequest): CommandResult<CompleteDocument> {
  const { candidates, wants, current, prefix } = request
  const known = wants.flatMap((wanted) => candidatesFor(context, request, wanted))
  const matching = [...candidates, ...known].filter(({ value }) => value.startsWith(current))
  const unique = [...new Map(matching.map((one) => [one.value, one])).values()]
  const words = unique
    // A line break or a tab would be read as the end of the word.
    .filter(({ value }) => stripControl(value) === value && !/[\n\t]/.test(value))
    .map(({ value, description }) => ({ value: `${prefix}${value}`, description: oneLine(description, 80) }))
  const files = wants.includes('file')
  const lines = [...words.map(({ value, description }) => `${value}\t${description}`), ...(files ? [':files'] : [])]
  return { exitCode: 0, data: { words, files }, lines, essential: lines }
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
