import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings'
import { COMPLETION_VALUES as VALUES } from './values.ts'

/** Finds the words that may follow on an unfinished command line. It reads the declared commands, and no file. */

/** A word that may follow, and what it means. */
export interface Candidate {
  readonly value: string
  readonly description: string
}

/** Values that must be looked up on the disk. */
export type Wanted = 'task' | 'step' | 'step-number' | 'phase' | 'example' | 'file'

/** What may follow. */
export interface CompletionRequest {
  readonly candidates: readonly Candidate[]
  readonly wants: readonly Wanted[]
  /** The task on the line, if it names one already. */
  readonly task: string | undefined
  /** The value of `--root` on the line. */
  readonly root: string | undefined
  /** The word to complete. Only candidates that begin with it count. */
  readonly current: string
  /** `--option=`, if the word to complete holds the option too. */
  readonly prefix: string
}

/** The meaning of `<file>` and similar names in arguments and options. `<number>` may count anything. */
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

/** The candidates after the words; the last word is the one to complete, and may be empty. */
export function completionRequest(program: CommandUnknownOpts, typed: readonly string[]): CompletionRequest {
  // bash treats each equals sign as a word.
  const words = typed.at(-1) === '=' ? [...typed.slice(0, -1), ''] : typed
  const before = words.slice(0, -1).filter((word) => word !== '=')
  const last = words.at(-1) ?? ''
  const line = read(program, before)
  const joined = /^(--[\w-]+)=(.*)$/s.exec(last)
  const option = line.pending ?? (joined === null ? undefined : findOption(line.command, program, joined[1] ?? ''))
  const current = line.pending === undefined && option !== undefined ? (joined?.[2] ?? '') : last
  const prefix = line.pending === undefined && option !== undefined ? `${joined?.[1]}=` : ''
  const request = { ...line, current, prefix }
  if (option !== undefined)
    return found(request, VALUES[option.long ?? ''] ?? [], WANTED[option.flags] ?? WANTED[valueName(option)] ?? [])
  if (last.startsWith('-')) return found(request, optionsOf(line.command, program), [])
  const commands = line.positional.length === 0 ? commandsOf(line.command) : []
  const argument = line.command.registeredArguments[line.positional.length]
  const values = argument === undefined ? [] : (VALUES[`<${argument.name()}>`] ?? [])
  return found(request, [...commands, ...values], WANTED[argument?.name() ?? ''] ?? [])
}

function found(
  { task, root, current, prefix }: Pick<CompletionRequest, 'task' | 'root' | 'current' | 'prefix'>,
  candidates: readonly Candidate[],
  wants: readonly Wanted[],
): CompletionRequest {
  return { candidates: candidates.filter(({ value }) => value.startsWith(current)), wants, task, root, current, prefix }
}

/** The part of a line that is finished. */
interface Line {
  readonly command: CommandUnknownOpts
  readonly positional: readonly string[]
  /** The option whose value follows. */
  readonly pending: Option | undefined
  readonly task: string | undefined
  readonly root: string | undefined
}

function read(program: CommandUnknownOpts, words: readonly string[]): Line {
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
      pending = option !== undefined && takesValue(option) && value === undefined ? option : undefined
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

function takesValue({ required, optional }: Option): boolean {
  return required || optional
}

/** The name in `--option <name>`. */
function valueName({ flags }: Option): string {
  return /<([\w-]+)/.exec(flags)?.[1] ?? ''
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
