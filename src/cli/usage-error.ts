import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { CommanderError } from 'commander'
import { closestName } from '../kernel/closest-name.ts'
import { PostflightError } from '../kernel/errors.ts'
import { USAGE_TEXT } from './usage-messages.ts'

/**
 * An error of commander as one of ours: `done` after help and version, a usage error otherwise. `words` is the command
 * line; it decides which command's help the error names.
 */
export function asUsageError(
  error: unknown,
  program: CommandUnknownOpts,
  words: readonly string[],
): PostflightError | undefined | 'done' {
  if (!(error instanceof CommanderError)) return undefined
  if (error.exitCode === 0) return 'done'
  const selected = selectedCommands(program, words)
  const help = `${selected.map((command) => command.name()).join(' ')} --help`
  if (error.code === 'commander.help') {
    // `help nonsense`
    const unknown = words.includes('help') ? words[words.indexOf('help') + 1] : undefined
    if (unknown !== undefined) {
      return new PostflightError('usage', { detail: USAGE_TEXT.parserSays(`unknown command '${unknown}'`, help) })
    }
    return new PostflightError('usage', { detail: USAGE_TEXT.missingCommand(help) })
  }
  const what = withOurGuess(error, selected)
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .trim()
  return new PostflightError('usage', { detail: USAGE_TEXT.parserSays(what, help) })
}

/**
 * commander's message, with a guess where commander has none or a worse one: it prefers `start` to `status` for `stat`,
 * and does not separate `--option=value`.
 */
function withOurGuess({ code, message }: CommanderError, selected: readonly CommandUnknownOpts[]): string {
  const [, word = ''] = /^error: unknown (?:command|option) '(.*)'(?:\n|$)/s.exec(message) ?? []
  const guesses = code === 'commander.unknownCommand' ? commandsLike(word, selected) : optionsLike(word, selected)
  return guesses.length === 0 ? message : `${message.split('\n(Did')[0]} ${USAGE_TEXT.didYouMean(guesses)}`
}

function commandsLike(word: string, selected: readonly CommandUnknownOpts[]): string[] {
  const names = selected.at(-1)?.commands.map((command) => command.name()) ?? []
  return word.length < 2 ? [] : names.filter((name) => name.startsWith(word))
}

function optionsLike(word: string, selected: readonly CommandUnknownOpts[]): string[] {
  const [, name] = /^(--[^=]+)=/.exec(word) ?? []
  const known = selected.flatMap((command) => command.options.flatMap((option) => option.long ?? []))
  const closest = name === undefined ? undefined : closestName(name, known)
  return closest === undefined ? [] : [closest]
}

/** The program, and the command that the words select. */
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
