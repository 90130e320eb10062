import type { CommandUnknownOpts, Command as TypedCommand, Option as TypedOption } from '@commander-js/extra-typings'
import { Option } from 'commander'
import { HOST_TITLES } from '../hosts/hook-hosts.ts'
import { MAX_ID_LENGTH } from '../hosts/payload.ts'
import { PostflightError } from '../kernel/errors.ts'
import { closestName, cut, listed, oneLine, QUOTE_LIMIT } from '../kernel/text.ts'
import type { CommandContext, CommandResult } from '../project/command-context.ts'
import type { DocumentOf, DocumentSource } from '../views/documents.ts'
import type { Output, PrintOptions } from '../views/print.ts'

// biome-ignore lint/complexity/noBannedTypes: these are the package's own defaults.
export type BareCommand = TypedCommand<[], {}, {}>

export interface Declaration {
  readonly free?: boolean
  readonly hidden?: boolean
  readonly description: string
  readonly examples: readonly string[]
  readonly notes?: readonly string[]
  readonly declare: (command: BareCommand) => CommandUnknownOpts
}

export type OptionsOf<One extends Declaration> = ReturnType<ReturnType<One['declare']>['opts']>

export type GlobalOptions = PrintOptions & Readonly<{ root: string | undefined }>

export interface Surroundings extends PrintOptions {
  readonly stdout: Output
  readonly contextNow: (root?: string) => CommandContext
  readonly freeCommands: readonly string[]
  readonly program: CommandUnknownOpts
}

export type Run<One extends Declaration, Document extends object> = (
  context: CommandContext,
  words: ReturnType<One['declare']>['processedArgs'],
  options: OptionsOf<One>,
  surroundings: Surroundings,
) => Outcome<Document> | Promise<Outcome<Document>>

export type Result<Document extends object> = CommandResult<
  Document extends DocumentSource ? DocumentOf<Document> & object : Document
>

/** An exit code alone means that the command has printed its own output. */
export type Outcome<Document extends object = object> = Result<Document> | 0 | 1

/** `expected` is the middle of `--option …, not "value".` */
export function invalidValue(option: string, value: string, expected: string): PostflightError {
  return new PostflightError('value-invalid', { option, value, expected })
}

export function notOneOf(names: readonly string[], option: string, value: string): PostflightError {
  return invalidValue(option, value, `must be one of ${names.join(', ')}`)
}

export function repeatable<Usage extends string>(usage: Usage, description: string, read = (value: string) => value) {
  const collect = (value: string, previous: readonly string[]): string[] => [...previous, read(value)]
  return [usage, `${description} (repeatable)`, collect, []] as const
}

const LINE_LIMIT = 2000
const SHOWN_LIMIT = 40

export function lineOf(option: string, limit = LINE_LIMIT) {
  return (value: string): string => {
    if (value.length > limit) {
      throw invalidValue(option, cut(value, SHOWN_LIMIT), `must have at most ${limit} characters`)
    }
    if (value !== '' && value === oneLine(value, limit)) return value
    // As JSON, to show line breaks.
    const shown = JSON.stringify(value).slice(1, -1)
    throw invalidValue(option, shown, 'must be one line of text without extra spaces')
  }
}

/** The hook ignores longer ids, so a marker with one would block no stop. */
export function idOf(option: string) {
  return lineOf(option, MAX_ID_LENGTH)
}

const StrictOption = Option as unknown as typeof TypedOption

const MAX_SECONDS = 999_999

/** In ms. */
export function timeoutOption(description: string) {
  const seconds = numberOf('--timeout', 1, MAX_SECONDS, `takes a number of seconds from 1 to ${MAX_SECONDS}`)
  const toMs = (value: string): number => seconds(value) * 1000
  return new StrictOption('--timeout <seconds>', description).argParser(toMs).default(600_000, '600')
}

export function numberOf(option: string, least: number, most: number, expected: string) {
  return (value: string): number => {
    if (/^\d+$/.test(value) && Number(value) >= least && Number(value) <= most) return Number(value)
    throw invalidValue(option, value, expected)
  }
}

export const TASK = ['<task>', 'task number or folder name'] as const

export const HOST_SESSION = [
  '--host-session <id>',
  "the host's id for the conversation (default: from the environment)",
  idOf('--host-session'),
] as const

export const WATCH = ['--watch', 'keep the output on screen and up to date until q or Ctrl-C', false] as const

export const DEFINITION = 'a definition file (JSON or YAML), or the name of a shipped example'

export const PARENT_SESSION = [
  '--parent-session <id>',
  'the session that the prompts belong to (default: the host session)',
  idOf('--parent-session'),
] as const

export const SET = repeatable('--set <name=value>', 'the value of an input of the workflow')

const TASK_FIRST = ' (write the task before it)'

/**
 * Refuses a task's number: `resume --shared 259` would report a missing task. `advice`: empty if the command takes no
 * task.
 */
export function remoteOption<Usage extends string>(usage: Usage, description: string, advice = TASK_FIRST) {
  const [option = ''] = usage.split(' ')
  return new StrictOption(usage, description).preset('origin').argParser((value: string) => {
    if (!/^\d+$/.test(value)) return value
    throw invalidValue(option, value, `takes the name of a git remote${advice}`)
  })
}

export const STEP_NUMBER = [
  '--step <number>',
  'the step of the current phase, from 1',
  numberOf('--step', 1, 9999, 'takes the number of a step, from 1'),
] as const

export const RUN_EXIT_CODES = `
Exit code: 0 if the run is active or completed; 1 if it was stopped or aborted,
or has stalled or failed.`

export const HOST = ['--host <name>', listed(Object.keys(HOST_TITLES), 'or'), 'claude'] as const

export const SCOPE =
  "project (.claude/settings.json, opencode.json, .codex/hooks.json, …), local (.claude/settings.local.json) or user (the host's own folder)"

export function requireOneTarget(task: string | undefined, options: Readonly<Record<string, boolean>>): void {
  const names = Object.keys(options).map((name) => `--${name}`)
  const given = Object.values(options).filter(Boolean).length + (task === undefined ? 0 : 1)
  if (given === 0) throw new PostflightError('target-missing', { options: names.join(', ') })
  if (given > 1) throw new PostflightError('target-twice', { options: names.join(', ') })
}

/** `clear all` would do nothing. */
export function refuseOptionAsTask(task: string, options: readonly string[]): void {
  const meant = closestName(task.toLowerCase(), options)
  if (meant === undefined) return
  const detail = `Task "${oneLine(task, QUOTE_LIMIT)}" does not exist: did you mean --${meant}?`
  throw new PostflightError('usage', { detail })
}
