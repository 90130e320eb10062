import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../../src/kernel/command-line.ts'
import { shellWord, shellWords } from '../../../src/kernel/text.ts'
import { anyUnits, holds, hostileText, maybe } from '../arbitraries.ts'

// A word of a command line contains neither NUL nor halves of surrogate pairs.
const anyWord = fc
  .oneof(hostileText, anyUnits, fc.string(), fc.constantFrom('-n', '~', '*', '!', '--', '#', "'", "''", '\\', '{a,b}'))
  .map((text) => text.replaceAll(/\u0000|\p{Surrogate}/gu, ''))

/** The words of a line as /bin/sh reads them. */
function readBack(line: string): string[] {
  const shell = spawnSync('/bin/sh', ['-s'], {
    input: `set -- ${line}\nfor word do printf '%s\\0' "$word"; done\n`,
    encoding: 'utf8',
  })
  expect(shell.stderr).toBe('')
  return shell.stdout.split('\0').slice(0, -1)
}

describe.skipIf(process.platform === 'win32')('words for the shell', () => {
  it('are read unchanged by /bin/sh, whatever they contain', () => {
    const words = fc.sample(anyWord, 3000)
    expect(readBack(words.map(shellWord).join(' '))).toEqual(words)
  })

  it('are read unchanged in a whole command, with a task of any name and a root', () => {
    holds(50)(anyWord, maybe(anyWord), (task, root) => {
      const option = root === undefined ? [] : ['--root', root]
      // A name that begins with a dash comes after all options.
      const words = task.startsWith('-') ? [...option, '--', task] : [task, ...option]
      expect(readBack(commandLine(['clear', task], root))).toEqual(['postflight', 'clear', ...words])
    })
  })

  it('are read unchanged by our own parser', () => {
    holds()(fc.array(anyWord), (words) => {
      expect(shellWords(['x', ...words].map(shellWord).join(' '))).toEqual(['x', ...words])
    })
  })

  it('are the same for /bin/sh and for our parser, in any line that it accepts', () => {
    const pieces = fc.constantFrom(
      ...['a', '/', 'b c', ' ', '  ', '\t', "'", "''", '"', '""', '\\"', "\\'", '\\\\', '\\ ', '\\$', '$', '`', '\\`'],
      ...['|', '&', ';', '<', '>', '(', ')', '*', '?', '[', ']', '#', '!', '=', '~', '{', '}', '\n', 'ü', '😀'],
    )
    const lines = fc
      .sample(fc.array(pieces, { maxLength: 12 }), 20_000)
      .map((parts) => `x ${parts.join('')}`)
      // Our parser does not expand variables.
      .filter((line) => shellWords(line) !== undefined && !/\$[\w{$#!?*@[-]|~|\$["']/.test(line))
    const script = lines.map((line) => `words ${line.slice(2)}\n`).join('')
    const shell = spawnSync('/bin/sh', ['-s'], {
      input: `words() { for word do printf '%s\\0' "=$word"; done; printf 'end\\0'; }\n${script}`,
      encoding: 'utf8',
    })
    expect(shell.stderr).toBe('')
    expect(lines.length).toBeGreaterThan(1000)
    const expected = lines.flatMap((line) => [...(shellWords(line) ?? []).slice(1).map((word) => `=${word}`), 'end'])
    expect(shell.stdout.split('\0').slice(0, -1)).toEqual(expected)
  })
})
