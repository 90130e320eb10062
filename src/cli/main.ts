import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { Command, CommanderError } from 'commander'
import { shellIdentity } from '../hosts/all-hosts.ts'
import { COMMAND_SENTENCES } from '../kernel/command-errors.ts'
import { addSentences, asPostflightError, messageOf, PostflightError } from '../kernel/errors.ts'
import { closestName } from '../kernel/text.ts'
import type { CommandContext } from '../project/command-context.ts'
import { cleanOutput, type Output, painterFor, printError, printResult, wrapped } from '../views/print.ts'
import type { BareCommand, GlobalOptions } from './command.ts'
import { COMMANDS, commandIn, freeCommands, type Invocation, type RunCommand } from './commands/command-list.ts'
import { buildProgram, type Program, type ProgramPorts } from './program.ts'

/** The CLI without a process of its own. */

/** `paint` depends on stdout, `session` on the environment. */
type ProcessContext = Omit<CommandContext, 'paint' | 'session'>

export interface CliProcess {
  readonly contextNow: (rootOption: string | undefined) => ProcessContext
  readonly version: string
  readonly stdout: Output
  readonly stderr: Output
  readonly endWith: (exitCode: number) => void
}

export async function main(words: readonly string[], cli: CliProcess): Promise<void> {
  addSentences(COMMAND_SENTENCES)
  const { version, endWith } = cli
  const stdout = cleanOutput(cli.stdout)
  const stderr = cleanOutput(cli.stderr)
  const ports: ProgramPorts = {
    version,
    stdout,
    run: async (invocation, options, program) => endWith(await runCommand(invocation, options, program, stdout, cli)),
  }
  const line = lineMeant(words)
  // Declaring all commands takes 3 ms, so only the help of `workflow`, completion and errors in a command's name do it.
  const named = commandIn(line)
  const program = buildProgram(ports, named === 'complete' ? undefined : named)
  try {
    await program.parseAsync(line, { from: 'user' })
  } catch (error) {
    const usage = asUsageError(error, program, line)
    if (usage === 'done') return
    const reported = usage ?? asPostflightError(error)
    const json = words.includes('--json')
    endWith(printError(reported, json, stdout, stderr, program.opts().root))
    if (!json) await explainNpx([messageOf(reported)], () => cli.contextNow(undefined), stdout, stderr)
  }
}

function lineMeant(words: readonly string[]): readonly string[] {
  if (meansStatus(words)) return ['status', ...words]
  const [first, ...others] = words
  // commander's own `help` ignores the second word of `help workflow start`.
  return first === 'help' && commandIn(others) !== undefined ? [...others, '--help'] : words
}

function meansStatus(words: readonly string[]): boolean {
  const first = words.find((word, index) => {
    const isGlobal = ['--json', '--quiet', '--root'].includes(word) || word.startsWith('--root=')
    return !isGlobal && words[index - 1] !== '--root'
  })
  if (first === undefined) return true
  if (!first.startsWith('--')) return false
  const status = COMMANDS.status.declaration.declare(new Command('status') as unknown as BareCommand)
  return status.options.some(({ long }) => long === first.replace(/=.*/s, ''))
}

async function runCommand(
  invocation: Invocation,
  options: GlobalOptions,
  program: Program,
  stdout: Output,
  { contextNow, stdout: terminalOutput }: CliProcess,
): Promise<0 | 1> {
  const run = (await COMMANDS[invocation.command].load()) as RunCommand
  const { json, quiet } = options
  const { environment } = contextNow(options.root)
  const paint = await painterFor(stdout, environment)
  const session = shellIdentity(environment)?.session
  const now = (root = options.root): CommandContext => {
    // A spread would read the terminal.
    const context = Object.assign(contextNow(root), { paint, session })
    // A question would end up in the middle of the document.
    return json ? { ...context, terminal: undefined } : context
  }
  const context = now()
  const surroundings = { json, quiet, stdout, contextNow: now, program, freeCommands: freeCommands() }
  const start = async (at = now()) => run(at, invocation.arguments as never, invocation.options as never, surroundings)
  const isWatched = 'watch' in invocation.options && invocation.options.watch === true
  const outcome = isWatched
    ? await (await import('./watch-option.ts')).watch(invocation, surroundings, start, terminalOutput)
    : await start(context)
  if (typeof outcome === 'number') return outcome
  printResult(outcome, options, stdout)
  const inessential = outcome.lines.filter((line) => !outcome.essential?.includes(line))
  if (!json && !quiet) await explainNpx(inessential, () => context, stdout, stdout)
  return outcome.exitCode ?? 0
}

const NAMED_COMMAND = /(?:^|[`→:] ?)postflight [a-z-]/m

/** Only for a person: an agent's shell has the command on its PATH. */
async function explainNpx(lines: readonly string[], context: () => ProcessContext, { isTTY }: Output, output: Output) {
  if (isTTY !== true || !lines.some((line) => NAMED_COMMAND.test(line))) return
  try {
    const { npxNote } = await import('../setup/doctor/claude-findings.ts')
    const note = npxNote(context())
    if (note !== undefined && !lines.includes(note)) output.write(wrapped(`${note}\n`, output))
  } catch {
    // The current folder may be gone. The command has printed its result.
  }
}

/** `done` after help and version, a usage error otherwise. */
export function asUsageError(error: unknown, program: CommandUnknownOpts, words: readonly string[]) {
  if (!(error instanceof CommanderError)) return undefined
  if (error.exitCode === 0) return 'done'
  const selected = selectedCommands(program, words)
  const help = `${selected.map((command) => command.name()).join(' ')} --help`
  if (error.code === 'commander.help') {
    // `help nonsense`
    const unknown = words.includes('help') ? words[words.indexOf('help') + 1] : undefined
    if (unknown !== undefined) return usageError(`Unknown command '${unknown}'`, help)
    return new PostflightError('usage', { detail: `Missing command: \`${help}\` lists the commands.` })
  }
  const what = withOurGuess(error, selected)
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .trim()
  return usageError(`${what.charAt(0).toUpperCase()}${what.slice(1).replace(/[.]$/, '')}`, help)
}

function usageError(what: string, help: string): PostflightError {
  return new PostflightError('usage', { detail: `${what}. See \`${help}\`.` })
}

/** commander prefers `start` to `status` for `stat`, and does not separate `--option=value`. */
function withOurGuess({ code, message }: CommanderError, selected: readonly CommandUnknownOpts[]): string {
  const [, word = ''] = /^error: unknown (?:command|option) '(.*)'(?:\n|$)/s.exec(message) ?? []
  const guesses = code === 'commander.unknownCommand' ? commandsLike(word, selected) : optionsLike(word, selected)
  if (guesses.length === 0) return message
  const meant = guesses.length > 1 ? `one of ${guesses.join(', ')}` : guesses[0]
  return `${message.split('\n(Did')[0]} (Did you mean ${meant}?)`
}

function commandsLike(word: string, selected: readonly CommandUnknownOpts[]): string[] {
  if (selected.length === 1 && Object.hasOwn(COMMANDS, `workflow ${word}`)) return [`workflow ${word}`]
  const names = selected.at(-1)?.commands.map((command) => command.name()) ?? []
  return word.length < 2 ? [] : names.filter((name) => name.startsWith(word))
}

function optionsLike(word: string, selected: readonly CommandUnknownOpts[]): string[] {
  const [, name] = /^(--[^=]+)=/.exec(word) ?? []
  const known = selected.flatMap((command) => command.options.flatMap((option) => option.long ?? []))
  const closest = name === undefined ? undefined : closestName(name, known)
  return closest === undefined ? [] : [closest]
}

function selectedCommands(program: CommandUnknownOpts, words: readonly string[]): CommandUnknownOpts[] {
  const selected = [program]
  for (const [index, word] of words.entries()) {
    if (word.startsWith('-') || words[index - 1] === '--root') continue
    const found = selected.at(-1)?.commands.find((one) => one.name() === word)
    if (found === undefined) break
    selected.push(found)
  }
  return selected
}
