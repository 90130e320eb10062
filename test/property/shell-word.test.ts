import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../src/core/commands.ts'
import { shellWord } from '../../src/core/text.ts'
import { anyUnits, hostileText } from './arbitraries.ts'

// A word of a command line holds neither NUL nor half of a surrogate pair.
const anyWord = fc
  .oneof(hostileText, anyUnits, fc.string(), fc.constantFrom('-n', '~', '*', '!', '--', '#', "'", "''", '\\', '{a,b}'))
  .map((text) => text.replaceAll(/\u0000|\p{Surrogate}/gu, ''))

/** What /bin/sh takes the words of a line for. */
function readBack(line: string): string[] {
  const shell = spawnSync('/bin/sh', ['-s'], {
    input: `set -- ${line}\nfor word do printf '%s\\0' "$word"; done\n`,
    encoding: 'utf8',
  })
  expect(shell.stderr).toBe('')
  return shell.stdout.split('\0').slice(0, -1)
}

describe.skipIf(process.platform === 'win32')('words for the shell', () => {
  it('are read back by /bin/sh as they were, whatever they hold', () => {
    const words = fc.sample(anyWord, 3000)
    expect(readBack(words.map(shellWord).join(' '))).toEqual(words)
  })

  it('a whole command too, with a task of any name and a root', () => {
    fc.assert(
      fc.property(anyWord, fc.option(anyWord, { nil: undefined }), (task, root) => {
        const option = root === undefined ? [] : ['--root', root]
        // A folder may be called -rf: then it stands behind all options.
        const words = task.startsWith('-') ? [...option, '--', task] : [task, ...option]
        expect(readBack(commandLine(['clear', task], root))).toEqual(['postflight', 'clear', ...words])
      }),
      { numRuns: 50 },
    )
  })
})
