import type { CommandUnknownOpts, Command as TypedCommand, Option as TypedOption } from '@commander-js/extra-typings'
import { Option } from 'commander'
import { HOST_TITLES } from '../hosts/hook-hosts.ts'
import { PostflightError } from '../kernel/errors.ts'
import { listed } from '../kernel/phrases.ts'
import type { CommandContext, CommandResult } from '../project/command-context.ts'
import type { Output, Painter } from '../views/print.ts'
import { OPTION_EXPECTATIONS } from './usage-messages.ts'

/** What the file of a command consists of (CONTRIBUTING.md, "A new command"), and what several declarations share. */

/** commander's command with stricter types, before anything is declared. */
// biome-ignore lint/complexity/noBannedTypes: these are the package's own defaults.
export type BareCommand = TypedCommand<[], {}, {}>

/** Everything that is known of a command before it runs. */
export interface Declaration {
  /** Whether an agent may run it without asking: `init` writes a permission rule for it. */
  readonly free?: boolean
  /** Whether help and completion leave it out. */
  readonly hidden?: boolean
  readonly declare: (command: BareCommand) => CommandUnknownOpts
}

/** The arguments of a declared command: undefined for an optional one that is not given. */
export type ArgumentsOf<One extends Declaration> =
  // biome-ignore lint/suspicious/noExplicitAny: only one of the three types is wanted.
  ReturnType<One['declare']> extends TypedCommand<infer Arguments, any, any> ? Arguments : never

/** The options of a declared command. */
export type OptionsOf<One extends Declaration> =
  // biome-ignore lint/suspicious/noExplicitAny: only one of the three types is wanted.
  ReturnType<One['declare']> extends TypedCommand<any, infer Options, any> ? Options : never

/** The options that every command takes. */
export interface GlobalOptions {
  readonly root: string | undefined
  readonly json: boolean
  readonly quiet: boolean
}

/** What a command may need besides its context: most need nothing. */
export interface Surroundings extends Omit<GlobalOptions, 'root'> {
  readonly paint: Painter
  readonly stdout: Output
  /** Where a view that stays open moves the cursor. What it shows it cleans itself. */
  readonly terminalOutput: Output
  /** A context with the current time, and with another root if one is given. */
  readonly contextNow: (root?: string) => CommandContext
  /** The commands that an agent may run without asking, for the permission rules. */
  readonly freeCommands: readonly string[]
  /** Every declared command, for completion. */
  readonly program: CommandUnknownOpts
}

/** A command's result, or its exit code if it has printed everything itself. */
export type Outcome = CommandResult | 0 | 1

/** The examples at the end of a command's help text. Each one is a command line without the word `postflight`. */
export function example(...commands: readonly string[]): string {
  return `\nExample${commands.length === 1 ? '' : 's'}:\n${commands.map((command) => `  $ postflight ${command}`).join('\n')}`
}

/** Collects the values of an option that can be repeated. */
export function collect(value: string, previous: readonly string[]): string[] {
  return [...previous, value]
}

/** commander's class with stricter types, of which only the types are used. */
const StrictOption = Option as unknown as typeof TypedOption

/** The largest value of `--timeout`: 11 days. */
const MAX_SECONDS = 999_999

/** `--timeout`, in ms, of a command that runs checks. */
export function timeoutOption(description: string) {
  return new StrictOption('--timeout <seconds>', description).argParser(timeoutMs).default(600_000, '600')
}

function timeoutMs(value: string): number {
  if (!/^\d+$/.test(value) || Number(value) < 1 || Number(value) > MAX_SECONDS) {
    const expected = OPTION_EXPECTATIONS.seconds(MAX_SECONDS)
    throw new PostflightError('value-invalid', { option: '--timeout', value, expected })
  }
  return Number(value) * 1000
}

/** The argument of most commands. */
export const TASK = ['<task>', 'task number or folder name'] as const

/** `--host-session` of commands that make or change an owner. */
export const HOST_SESSION = [
  '--host-session <id>',
  "the host's id of the conversation (default: from the environment)",
] as const

/** `--watch` of commands that can stay on the screen. */
export const WATCH = ['--watch', 'keep the output on the screen, up to date, until q or Ctrl-C', false] as const

/** The argument and option of commands that read a definition. */
export const DEFINITION = 'a definition file (JSON or YAML), or the name of a shipped example'

/** `--parent-session` of commands that set the sessions of a run. */
export const PARENT_SESSION = [
  '--parent-session <id>',
  'the session that its prompts belong to (default: the host session)',
] as const

/** `--set` of commands that give a definition its inputs. */
export const SET = ['--set <name=value>', 'the value of an input of the workflow (repeatable)', collect, []] as const

/** `--step` of commands that change a step of a run. */
export const STEP_NUMBER = ['--step <number>', 'the step of the current phase, from 1', stepNumber] as const

function stepNumber(value: string): number {
  if (!/^[1-9]\d{0,3}$/.test(value)) {
    throw new PostflightError('value-invalid', { option: '--step', value, expected: OPTION_EXPECTATIONS.stepNumber })
  }
  return Number(value)
}

/** The end of the help of commands whose exit code is that of a run. */
export const RUN_EXIT_CODES = `
Exit code: 0 while the run goes on and after it has completed; 1 if it was stopped, stalled, failed or was aborted.`

/** The end of the help of `approve` and `reject`. */
export const APPROVAL_NOTE = `
A run waits for this at a phase with "approve: true". Only a person can do it: the command refuses to run in an agent's shell.`

/** `--host` of `install` and `uninstall`. */
export const HOST = ['--host <name>', listed(Object.keys(HOST_TITLES), 'or'), 'claude'] as const

/** What `--scope` means. */
export const SCOPE =
  "project (.claude/settings.json, opencode.json, .codex/hooks.json, …), local (.claude/settings.local.json) or user (the host's own folder)"
