import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings'
import { HOST_TITLES } from '../../hosts/hook-hosts.ts'
import { SPECS_FOLDER } from '../../kernel/files.ts'
import { oneLine, stripControl } from '../../kernel/text.ts'
import { readMarker } from '../../marker/marker-store.ts'
import { type CommandContext, findCommandRoot } from '../../project/command-context.ts'
import { SPECS_ITSELF, type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { findTaskFolder, listTaskFolders } from '../../project/task-folders.ts'
import { stepAsText } from '../../run/definition/steps.ts'
import { stepAt } from '../../run/machine/position.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import { listExamples } from '../../run/store/find-definition.ts'
import { readState } from '../../run/store/state-store.ts'
import { PART_TITLES } from '../../setup/settings-messages.ts'
import * as field from '../../views/documents.ts'
import type { Declaration, Run } from '../command.ts'

export const declaration = {
  hidden: true,
  description: 'print the words that may follow, for the scripts of `completion`',
  examples: ['complete -- workflow st'],
  declare: (command) => command.argument('[words...]', 'the words of the line, the last one unfinished'),
} satisfies Declaration

export const document = () =>
  field.object({
    words: field.objects({ value: field.text('A word that may follow.'), description: field.text('What it means.') }),
    files: field.flag('True if a file may follow too.'),
  })

export const run: Run<typeof declaration, typeof document> = (_context, [words], _options, { program, contextNow }) => {
  const request = completionRequest(program, words)
  // No shell has expanded it yet.
  const context = contextNow(request.root?.replace(/^~(?=\/|$)/, () => contextNow().findHome()))
  const { candidates, wants, current, prefix } = request
  const known = wants.flatMap((wanted) => candidatesFor(context, request, wanted))
  const matching = [...candidates, ...known.filter(({ value }) => value.startsWith(current))]
  const unique = [...new Map(matching.map((one) => [one.value, one])).values()]
  const offered = unique
    // A line break or a tab would be read as the end of the word.
    .filter(({ value }) => stripControl(value) === value && !/[\n\t]/.test(value))
    .map(({ value, description }) => ({ value: `${prefix}${value}`, description: oneLine(description, 80) }))
  const files = wants.includes('file')
  const lines = [...offered.map(({ value, description }) => `${value}\t${description}`), ...(files ? [':files'] : [])]
  return { data: { words: offered, files }, lines, essential: lines }
}

function candidatesFor(context: CommandContext, { task, current }: CompletionRequest, wanted: Wanted): Candidate[] {
  if (wanted === 'file') return []
  try {
    if (wanted === 'example') {
      return listExamples(context.packageFolder).map(({ name }) => ({ value: name, description: 'a shipped example' }))
    }
    const root = findCommandRoot(context)
    if (root === undefined) return []
    if (wanted === 'task') return tasks(root, current.startsWith(`${SPECS_FOLDER}/`))
    const folder = task === undefined ? undefined : findTaskFolder(root, task)
    if (folder === undefined) return []
    return wanted === 'step' ? steps(folder) : ofRun(readState(folder), wanted)
  } catch {
    // Offers nothing for an unreadable folder or an ambiguous task.
    return []
  }
}

function tasks(root: string, asPaths: boolean): Candidate[] {
  const folders = listTaskFolders(root).folders.filter(
    ({ task, relative }) => task !== SPECS_ITSELF && !relative.includes('/.'),
  )
  const below = folders.filter(({ task, relative }) => /^\d/.test(task) || relative.split('/').length > 2)
  return below.map((folder) => ({ value: asPaths ? folder.relative : taskWord(folder), description: folder.relative }))
}

function steps(folder: TaskFolder): Candidate[] {
  const read = readMarker(folder)
  const list = read?.kind === 'marker' ? read.marker.steps : []
  return list.map(({ name, done }) => ({ value: name, description: done ? 'done' : '' }))
}

function ofRun(state: WorkflowState | undefined, wanted: 'phase' | 'step-number'): Candidate[] {
  if (state === undefined) return []
  if (wanted === 'phase') {
    return state.definition.phases.map(({ id, artifact }) => ({ value: id, description: artifact ?? '' }))
  }
  if (!state.stepsKnown) return []
  return Array.from({ length: state.totalSteps }, (_, index) => ({
    value: String(index + 1),
    description: stepAsText(stepAt(state, index)),
  }))
}

type Candidate = field.DocumentOf<typeof document>['words'][number]
type Wanted = 'task' | 'step' | 'step-number' | 'phase' | 'example' | 'file'
export type CompletionRequest = ReturnType<typeof completionRequest>

const WANTED: Readonly<Record<string, readonly Wanted[]>> = {
  task: ['task'],
  step: ['step'],
  phase: ['phase'],
  '--step <number>': ['step-number'],
  definition: ['example', 'file'],
  '--definition <file>': ['example', 'file'],
  file: ['file'],
  folder: ['file'],
  'definition-or-task': ['task', 'example', 'file'],
}

/** zsh removes only closed quotes, fish only those of finished words, and bash none. */
function unquoted(word: string): string {
  return word.replace(/^(["'])(.*?)\1?$/s, '$2').replace(/\\(.)/g, '$1')
}

export function completionRequest(program: CommandUnknownOpts, given: readonly string[]) {
  const typed = given.map(unquoted)
  // bash treats each equals sign as a word.
  const words = typed.at(-1) === '=' ? [...typed.slice(0, -1), ''] : typed
  const before = words.slice(0, -1).filter((word) => word !== '=')
  const last = words.at(-1) ?? ''
  const line = read(program, before)
  const joined = /^(--[\w-]+)=(.*)$/s.exec(last)
  const option = line.pending ?? (joined === null ? undefined : findOption(line.command, program, joined[1] ?? ''))
  const isJoined = line.pending === undefined && option !== undefined
  const current = isJoined ? (joined?.[2] ?? '') : last
  const prefix = isJoined ? `${joined?.[1]}=` : ''
  const { task, root } = line
  const found = (candidates: readonly Candidate[], wants: readonly Wanted[]) => {
    const matching = candidates.filter(({ value }) => value.startsWith(current))
    return { candidates: matching, wants, task, root, current, prefix }
  }
  if (option !== undefined) {
    const [, value = ''] = /<([\w-]+)/.exec(option.flags) ?? []
    return found(COMPLETION_VALUES[option.long ?? ''] ?? [], WANTED[option.flags] ?? WANTED[value] ?? [])
  }
  if (last.startsWith('-')) return found(optionsOf(line.command, program), [])
  const commands = line.positional.length === 0 ? commandsOf(line.command) : []
  const argument = line.command.registeredArguments[line.positional.length]
  const values = argument === undefined ? [] : (COMPLETION_VALUES[`<${argument.name()}>`] ?? [])
  return found([...commands, ...values], WANTED[argument?.name() ?? ''] ?? [])
}

/** `pending` is an option that waits for its value. */
function read(program: CommandUnknownOpts, words: readonly string[]) {
  let command = program
  let pending: Option | undefined
  let root: string | undefined
  const positional: string[] = []
  for (const word of words) {
    if (pending !== undefined) {
      if (pending.long === '--root') root = word
      pending = undefined
    } else if (word.startsWith('-')) {
      const [name = '', value] = word.split('=', 2)
      const option = findOption(command, program, name)
      if (option?.long === '--root' && value !== undefined) root = value
      pending = (option?.required || option?.optional) && value === undefined ? option : undefined
    } else {
      const below = positional.length === 0 ? command.commands.find((one) => one.name() === word) : undefined
      if (below === undefined) positional.push(word)
      else command = below
    }
  }
  const at = command.registeredArguments.findIndex((argument) => /task/.test(argument.name()))
  return { command, positional, pending, root, task: at === -1 ? undefined : positional[at] }
}

function findOption(command: CommandUnknownOpts, program: CommandUnknownOpts, name: string): Option | undefined {
  return [...command.options, ...program.options].find(({ long, short }) => name === long || name === short)
}

function optionsOf(command: CommandUnknownOpts, program: CommandUnknownOpts): Candidate[] {
  const options = command === program ? program.options : [...command.options, ...program.options]
  const named = options.flatMap(({ long, description }) => (long === undefined ? [] : [{ value: long, description }]))
  return [...named, { value: '--help', description: 'show help' }]
}

function commandsOf(command: CommandUnknownOpts): Candidate[] {
  const visible = command.createHelp().visibleCommands(command)
  return visible.map((one) => ({ value: one.name(), description: one.description() }))
}

function describedIn(values: Readonly<Record<string, string>>): Candidate[] {
  return Object.entries(values).map(([value, description]) => ({ value, description }))
}

const COMPLETION_VALUES: Readonly<Record<string, readonly Candidate[]>> = {
  '--scope': describedIn({
    project: 'shared with everyone who works on the project',
    local: 'yours, in this project',
    user: 'yours, in all projects',
  }),
  '--host': describedIn(HOST_TITLES),
  '--skip': describedIn(PART_TITLES),
  '--agent': describedIn({ main: 'the main conversation' }),
  '<shell>': ['bash', 'zsh', 'fish'].map((value) => ({ value, description: `completion for ${value}` })),
}
