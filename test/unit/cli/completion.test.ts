import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { type CompletionRequest, completionRequest } from '../../../src/cli/commands/complete.ts'
import { buildProgram } from '../../../src/cli/program.ts'
import { HOSTS } from '../../../src/setup/install/target.ts'

const program = buildProgram({ version: '1.0.0', stdout: { write: () => true }, run: async () => {} })

const ask = (line: string): CompletionRequest => completionRequest(program, line.split(' '))
const values = (line: string): string[] => ask(line).candidates.map(({ value }) => value)

describe('the candidates', () => {
  it.each<[string, Partial<CompletionRequest>]>([
    ['clear ', { wants: ['task'], current: '' }],
    ['clear 25', { wants: ['task'], current: '25' }],
    ['clear 259 ', { wants: [], task: '259' }],
    ['step 259 ', { wants: ['step'], task: '259' }],
    ['step --timeout 5 259 u', { wants: ['step'], task: '259', current: 'u' }],
    ['step --timeout=5 259 u', { wants: ['step'], task: '259', current: 'u' }],
    ['workflow validate fl', { wants: ['example', 'file'], current: 'fl' }],
    ['workflow graph ', { wants: ['task', 'example', 'file'] }],
    ['workflow start 259 --definition ', { wants: ['example', 'file'], task: '259' }],
    ['report --html ', { wants: ['file'] }],
    ['workflow skip 259 --step ', { wants: ['step-number'], task: '259' }],
    ['workflow resume 259 --from ', { wants: ['phase'], task: '259' }],
    ['logs --count ', { wants: [] }],
    ['--root ', { wants: ['file'] }],
    ['--root /elsewhere clear ', { wants: ['task'], root: '/elsewhere' }],
    ['clear --root=/elsewhere ', { wants: ['task'], root: '/elsewhere' }],
    ['clear --nonsense 259 ', { wants: [], task: '259' }],
    [`--root '/a' step "12" "c\\$`, { wants: ['step'], task: '12', root: '/a', current: 'c$' }],
    ['', { wants: [], current: '' }],
  ])('%j', (line, expected) => {
    expect(ask(line)).toMatchObject(expected)
  })

  it.each<[string, readonly string[]]>([
    ['workflow st', ['start', 'status', 'stop']],
    ['install --scope ', ['project', 'local', 'user']],
    ['install --scope=l', ['local']],
    // bash makes a word of the equals sign.
    ['install --scope = l', ['local']],
    ['install --scope =', ['project', 'local', 'user']],
    ['init --skip g', ['gitignore']],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['install --host ', HOSTS],
    ['clear --or', ['--orphaned']],
    ['clear --nonsense=', []],
    ['--ver', ['--version']],
    ['nonsense ', []],
    ['comp', ['completion']],
  ])('%j: the words %j', (line, expected) => {
    expect(values(line)).toEqual(expected)
  })

  it('repeats the option if the word holds it, as zsh and fish give it', () => {
    expect(ask('install --scope=l')).toMatchObject({ prefix: '--scope=', current: 'l' })
    expect(ask('install --scope l').prefix).toBe('')
  })

  it('is a phase if an option or an argument is called that', () => {
    const declared = new Command('postflight')
    declared.command('resume').argument('<task>').option('--from <phase>').option('-n, --count [number]')
    const other = declared as unknown as CommandUnknownOpts
    expect(completionRequest(other, ['resume', '7', '--from', ''])).toMatchObject({ wants: ['phase'], task: '7' })
    expect(completionRequest(other, ['resume', '-n', '3', ''])).toMatchObject({ wants: ['task'], task: undefined })
  })
})
