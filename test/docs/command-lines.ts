/** Finds command lines in text, and has the real program read them without running anything. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommanderError } from 'commander'
import { buildProgram } from '../../src/cli/program.ts'
import { PostflightError } from '../../src/kernel/errors.ts'
import { PACKAGE } from '../support/process.ts'

/** Words of a shell: quoted, or plain; and the operators that end a command. */
const TOKENS = /(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'|;&<>#\\]|(?<=\S)#)+|&&|\|\||[|;&<>]+|#.*/g
const OPERATOR = /^(?:[|;&<>]+)$/

/** The commands of a line of shell, each as its words. Words after a redirection are left out. */
function commandsOf(line: string): string[][] {
  const commands: string[][] = [[]]
  let redirected = false
  for (const [token] of line.matchAll(TOKENS)) {
    if (token.startsWith('#')) break
    if (/^[<>]+$/.test(token)) redirected = true
    else if (OPERATOR.test(token)) {
      commands.push([])
      redirected = false
    } else if (redirected) redirected = false
    else commands.at(-1)?.push(token.replace(/["'\\]/g, ''))
  }
  return commands.filter((words) => words.length > 0)
}

/** What is wrong with the `postflight` and `npm` commands of a text, which may have placeholders. */
export async function commandFaults(text: string): Promise<string[]> {
  const faults: string[] = []
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    for (const words of commandsOf(withoutPlaceholders(line))) faults.push(...(await faultsOf(words)))
  }
  return faults
}

/** `<task>` and `[task]` become plain words. */
function withoutPlaceholders(line: string): string {
  return line
    .replace(/<([\w .|-]+)>/g, (_all, inner: string) => inner.replace(/\W+/g, '_'))
    .replace(/\[([\w. -]+)\]/g, '$1')
}

async function faultsOf(words: readonly string[]): Promise<string[]> {
  const rest = [...words]
  while (/^(?:\$|[A-Z_]+=.*)$/.test(rest[0] ?? '')) rest.shift()
  if (rest[0] === 'npx') {
    do rest.shift()
    while (rest[0]?.startsWith('-') === true)
  }
  const [program, ...given] = rest
  if (program === 'npm') return npmFaults(given)
  if (program !== 'postflight' || given[0] === 'hook') return []
  const wrong = await readingError(given.filter((word) => word !== '…'))
  return wrong === undefined ? [] : [`"${rest.join(' ')}": ${wrong}`]
}

/** Errors about values that placeholders stand for. */
const ABOUT_PLACEHOLDERS = ['commander.missingArgument', 'commander.optionMissingArgument']

/** The error with which the program reads the words, if it does. */
async function readingError(words: readonly string[]): Promise<string | undefined> {
  if (words.length === 0) return undefined
  const program = buildProgram({ version: '0.0.0', stdout: { write: () => {} }, run: async () => {} })
  try {
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    // A group of commands alone (`postflight workflow`) prints its help.
    const mayBe = [...ABOUT_PLACEHOLDERS, 'commander.help']
    if (error instanceof CommanderError && (error.exitCode === 0 || mayBe.includes(error.code))) return undefined
    const stands = words.some((word) => /^[A-Z_]+$|…/.test(word))
    if (error instanceof PostflightError && error.code === 'value-invalid' && stands) return undefined
    if (error instanceof PostflightError) return `${error.code} ${JSON.stringify(error.args)}`
    return error instanceof Error ? error.message : String(error)
  }
  return undefined
}

const { scripts } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}

function npmFaults(words: readonly string[]): string[] {
  const [command, script] = words.filter((word) => !word.startsWith('-'))
  if (command !== 'run' || script === undefined || script in scripts) return []
  return [`"npm run ${script}": package.json has no such script`]
}
