import { describe, expect, it } from 'vitest'
import { commandLine, fallbackLine, personNote, rootOptionFor } from '../../../src/kernel/command-line.ts'

describe('a command to print', () => {
  it.each([
    ['has no --root if the agent finds the root without it', 'clear 259_x', undefined, 'clear 259_x'],
    ['quotes a path with blanks (CC#40084)', 'clear 259_x', '/home/me/a b', "clear 259_x --root '/home/me/a b'"],
    ['quotes every word, and substitutions of a shell', "step it's $(id)", undefined, "step 'it'\\''s' '$(id)'"],
    ['has a name like an option after all options', 'clear -rf', undefined, 'clear -- -rf'],
    ['has such a name also after --root', 'clear -rf', '/home/me/p', 'clear --root /home/me/p -- -rf'],
    ['may have two words before such a name', 'workflow next -rf', undefined, 'workflow next -- -rf'],
    ['has a dash inside a name', 'step 259-x a-b', undefined, 'step 259-x a-b'],
  ])('%s', (_, words, root, expected) => {
    expect(commandLine(words.split(' '), root)).toBe(`postflight ${expected}`)
    const form = { onPath: false, byNpx: false, script: '/opt/my tools/postflight.js' }
    expect(fallbackLine(form, words.split(' '), root)).toBe(`node '/opt/my tools/postflight.js' ${expected}`)
  })
})

it.each([
  ['/home/me/p', undefined],
  ['/home/me', '/home/me/p'],
  [undefined, '/home/me/p'],
])('the root in a command, if the shell of the reader finds %s, is %s', (foundRoot, expected) => {
  const findForm = () => ({ onPath: true, byNpx: false, script: '/p.js' })
  expect(rootOptionFor({ foundRoot, findForm }, '/home/me/p')).toBe(expected)
})

describe('a command without `postflight` on the PATH', () => {
  const fallback = (onPath: boolean, byNpx: boolean) =>
    fallbackLine({ onPath, byNpx, script: '/p.js' }, ['clear', '.'], undefined)

  it('runs npx, which installs nothing, if the project depends on the package; otherwise Node', () => {
    expect(fallback(false, true)).toBe('npx --no-install postflight clear .')
    expect(fallback(false, false)).toBe('node /p.js clear .')
  })

  it('is undefined if `postflight` is on the PATH', () => {
    expect(fallback(true, false)).toBeUndefined()
  })

  it.each([
    [{ onPath: true, byNpx: false }, ''],
    [{ onPath: true, byNpx: false, byPlugin: true }, ' (where `postflight` is not on the PATH: node /p.js trust)'],
    [{ onPath: false, byNpx: true }, ' (where `postflight` is not on the PATH: npx --no-install postflight trust)'],
  ])('is also for a person, whose terminal does not have the PATH of a plugin: %j', (form, note) => {
    const reader = { foundRoot: '/', findForm: () => ({ ...form, script: '/p.js' }) }
    expect(personNote(reader, ['trust'], undefined)).toBe(note)
  })
})
