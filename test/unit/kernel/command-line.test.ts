import { describe, expect, it } from 'vitest'
import { commandLine, fallbackLine, rootOptionFor } from '../../../src/kernel/command-line.ts'

describe('a command to print', () => {
  it('has no --root if the agent finds the root without it', () => {
    expect(commandLine(['clear', '259_x'], undefined)).toBe('postflight clear 259_x')
  })

  it('has --root if the agent would not find the root without it', () => {
    expect(commandLine(['clear', '259_x'], '/home/me/project')).toBe('postflight clear 259_x --root /home/me/project')
  })

  it('quotes every word: spaces in a path (CC#40084), and substitutions of a shell', () => {
    expect(commandLine(['step', "259_it's", '$(id)'], '/my projects/a')).toBe(
      "postflight step '259_it'\\''s' '$(id)' --root '/my projects/a'",
    )
  })
})

describe('the root in a command', () => {
  const findForm = () => ({ onPath: true, byNpx: false, script: '/p.js' })

  it.each([
    ['/home/me/p', undefined],
    ['/home/me', '/home/me/p'],
    [undefined, '/home/me/p'],
  ])('where the shell of the reader finds %s, is %s', (foundRoot, expected) => {
    expect(rootOptionFor({ foundRoot, findForm }, '/home/me/p')).toBe(expected)
  })
})

describe('a folder with a name like an option', () => {
  it.each([
    [undefined, 'postflight clear -- -rf'],
    ['/home/me/a b', "postflight clear --root '/home/me/a b' -- -rf"],
  ])('comes after all options (root %s)', (root, expected) => {
    expect(commandLine(['clear', '-rf'], root)).toBe(expected)
    expect(fallbackLine({ onPath: false, byNpx: false, script: '/p.js' }, ['clear', '-rf'], root)).toBe(
      expected.replace('postflight', 'node /p.js'),
    )
  })

  it.each([
    [undefined, 'postflight workflow next -- -rf'],
    ['/home/me/a b', "postflight workflow next --root '/home/me/a b' -- -rf"],
  ])('comes after all options of a command of two words, too (root %s)', (root, expected) => {
    expect(commandLine(['workflow', 'next', '-rf'], root)).toBe(expected)
  })

  it('has a dash at its beginning, not inside', () => {
    expect(commandLine(['step', '259-x', 'a-b'], undefined)).toBe('postflight step 259-x a-b')
  })
})

describe('a command without `postflight` on the PATH', () => {
  const script = '/opt/my tools/bin/postflight.js'

  it("runs Node with the CLI's own file", () => {
    expect(fallbackLine({ onPath: false, byNpx: false, script }, ['clear', '259_x'], '/home/me/a b')).toBe(
      "node '/opt/my tools/bin/postflight.js' clear 259_x --root '/home/me/a b'",
    )
  })

  it('has no --root if none is needed', () => {
    expect(fallbackLine({ onPath: false, byNpx: false, script: '/p.js' }, ['clear', '.'], undefined)).toBe(
      'node /p.js clear .',
    )
  })

  it('runs npx, which installs nothing, where the project depends on the package', () => {
    expect(fallbackLine({ onPath: false, byNpx: true, script }, ['clear', '259_x'], undefined)).toBe(
      'npx --no-install postflight clear 259_x',
    )
  })

  it('is undefined if `postflight` is on the PATH', () => {
    expect(fallbackLine({ onPath: true, byNpx: false, script }, ['clear', '259_x'], '/home/me/a b')).toBeUndefined()
  })
})
