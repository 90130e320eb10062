import { describe, expect, it } from 'vitest'
import { commandLine, fallbackLine } from '../../src/core/command-line.ts'

describe('a command to print', () => {
  it('is the bare command where the agent finds the root by itself', () => {
    expect(commandLine(['clear', '259_x'], undefined)).toBe('postflight clear 259_x')
  })

  it('names the root where the agent would not find it', () => {
    expect(commandLine(['clear', '259_x'], '/home/me/project')).toBe('postflight clear 259_x --root /home/me/project')
  })

  it('quotes every word: spaces in a path (CC#40084) and what a shell would run', () => {
    expect(commandLine(['step', "259_it's", '$(id)'], '/my projects/a')).toBe(
      "postflight step '259_it'\\''s' '$(id)' --root '/my projects/a'",
    )
  })
})

describe('a folder whose name begins like an option', () => {
  it.each([
    [undefined, 'postflight clear -- -rf'],
    ['/home/me/a b', "postflight clear --root '/home/me/a b' -- -rf"],
  ])('stands behind all options (root %s)', (root, expected) => {
    expect(commandLine(['clear', '-rf'], root)).toBe(expected)
    expect(fallbackLine({ onPath: false, script: '/p.js' }, ['clear', '-rf'], root)).toBe(
      expected.replace('postflight', 'node /p.js'),
    )
  })

  it.each([
    [undefined, 'postflight workflow next -- -rf'],
    ['/home/me/a b', "postflight workflow next --root '/home/me/a b' -- -rf"],
  ])('also behind the name of a command of two words (root %s)', (root, expected) => {
    expect(commandLine(['workflow', 'next', '-rf'], root)).toBe(expected)
  })

  it('a dash inside a name is none', () => {
    expect(commandLine(['step', '259-x', 'a-b'], undefined)).toBe('postflight step 259-x a-b')
  })
})

describe('the same without `postflight` on the PATH', () => {
  const script = '/opt/my tools/bin/postflight.js'

  it("goes through Node and the CLI's own file", () => {
    expect(fallbackLine({ onPath: false, script }, ['clear', '259_x'], '/home/me/a b')).toBe(
      "node '/opt/my tools/bin/postflight.js' clear 259_x --root '/home/me/a b'",
    )
  })

  it('names no root where none is needed', () => {
    expect(fallbackLine({ onPath: false, script: '/p.js' }, ['clear', '.'], undefined)).toBe('node /p.js clear .')
  })

  it('is not needed where `postflight` is on the PATH', () => {
    expect(fallbackLine({ onPath: true, script }, ['clear', '259_x'], '/home/me/a b')).toBeUndefined()
  })
})
