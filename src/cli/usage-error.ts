import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { CommanderError } from 'commander'
import { PostflightError } from '../core/errors.ts'
import { USAGE_TEXT } from '../core/messages/usage.ts'

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
  const help = `${commandNames(program, words).join(' ')} --help`
  if (error.code === 'commander.help') {
    return new PostflightError('usage', { detail: USAGE_TEXT.missingCommand(help) })
  }
  const what = error.message
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .trim()
  return new PostflightError('usage', { detail: USAGE_TEXT.parserSays(what, help) })
}

/** The names of the program and of the command that the words select. */
function commandNames(program: CommandUnknownOpts, words: readonly string[]): string[] {
  const names = [program.name()]
  let command = program
  for (const [index, word] of words.entries()) {
    if (word.startsWith('-') || words[index - 1] === '--root') continue
    const found = command.commands.find((one) => one.name() === word)
    if (found === undefined) break
    names.push(word)
    command = found
  }
  return names
}
