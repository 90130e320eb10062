import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { CommanderError } from 'commander'
import { PostflightError } from '../core/errors.ts'

/**
 * commander's ways out, as ours: help and version are done, everything else is wrong use. `words`: what was typed, which
 * tells whose help to name.
 */
export function asUsageError(
  error: unknown,
  program: CommandUnknownOpts,
  words: readonly string[],
): PostflightError | undefined | 'done' {
  if (!(error instanceof CommanderError)) return undefined
  if (error.exitCode === 0) return 'done'
  const help = `\`${commandNames(program, words).join(' ')} --help\``
  if (error.code === 'commander.help') {
    return new PostflightError('usage', { detail: `give a command: ${help} lists them.` })
  }
  const what = error.message
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
    .trim()
  return new PostflightError('usage', { detail: `${what.replace(/[.]$/, '')}. See ${help}.` })
}

/** The names of the command that the words lead to, the program's first. */
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
