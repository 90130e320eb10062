import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CommandName } from '../../../src/cli/commands/command-list.ts'
import { cleanOutput, printable } from '../../../src/views/print.ts'
import { createSourceProject } from '../../support/project.ts'

/** What a terminal would obey, and what changes the direction of text. */
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

const hostile = fc
  .array(
    fc.constantFrom(
      ...[
        '\u001b[31m',
        '\u001b]8;;x\u0007',
        '\u001b[2J',
        '\u009b2J',
        '\r',
        '\b',
        '\u007f',
        '\u202e',
        '\u2066',
        'a',
        ' ',
        '\u0007',
      ],
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.join(''))

/**
 * The lines of every command: T is a task with a marker, R one with a run, N a name, F a definition. A command that is
 * missing here does not compile.
 */
const LINES: Readonly<Record<CommandName, readonly (readonly string[])[]>> = {
  create: [
    ['create', 'T'],
    ['create', 'N', 'N'],
  ],
  status: [
    ['status'],
    ['status', '--shared', 'N'],
    ['status', '--github'],
    ['status', '--session', 'N'],
    ['status', '--watch'],
  ],
  statusline: [['statusline']],
  report: [['report'], ['report', 'T']],
  completion: [['completion', 'fish']],
  complete: [
    ['complete', '--', 'clear', ''],
    ['complete', '--', 'workflow', 'validate', ''],
  ],
  inspect: [['inspect'], ['inspect', 'T']],
  step: [['step', 'T', 'N']],
  wait: [['wait', 'T', '--for', 'N']],
  explain: [['explain']],
  done: [['done', '--list']],
  trust: [['trust', '--yes']],
  logs: [['logs']],
  init: [['init', '--dry-run']],
  install: [['install', '--scope', 'local', '--dry-run']],
  uninstall: [['uninstall', '--scope', 'local', '--dry-run']],
  doctor: [['doctor']],
  'workflow validate': [
    ['workflow', 'validate', 'F'],
    ['workflow', 'validate', 'N'],
  ],
  'workflow start': [['workflow', 'start', 'R', '--definition', 'F']],
  'workflow status': [
    ['workflow', 'status'],
    ['workflow', 'status', 'R'],
  ],
  'workflow next': [['workflow', 'next', 'R']],
  'workflow approve': [['workflow', 'approve', 'R']],
  'workflow reject': [['workflow', 'reject', 'R', '--reason', 'N']],
  'workflow retry': [['workflow', 'retry', 'R', '--step', '1']],
  'workflow skip': [['workflow', 'skip', 'R', '--step', '1']],
  'workflow check': [['workflow', 'check', 'R']],
  'workflow stop': [['workflow', 'stop', 'R']],
  'workflow resume': [['workflow', 'resume', 'R']],
  'workflow share': [['workflow', 'share', 'R', 'N']],
  'workflow publish': [['workflow', 'publish', 'R']],
  'workflow release': [['workflow', 'release', 'R']],
  'workflow history': [['workflow', 'history', 'R']],
  'workflow simulate': [['workflow', 'simulate', 'F']],
  'workflow graph': [
    ['workflow', 'graph', 'F'],
    ['workflow', 'graph', 'R'],
  ],
  'workflow abort': [['workflow', 'abort', 'R']],
  adopt: [['adopt', 'T', '--host-session', 'other']],
  bypass: [['bypass', 'T']],
  clear: [
    ['clear', 'T', '--dry-run'],
    ['clear', 'T'],
    ['clear', '--all'],
  ],
}

describe('a hostile name', () => {
  it('reaches no terminal by any command', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, async (name) => {
        const project = createSourceProject()
        const task = `259_${name}`
        const run = `7_${name}`
        const text = { session_id: name, operation: name, reason: name, steps: [{ name, done: false }] }
        project.write(`specs/${task}/.postflight-pending`, JSON.stringify(text))
        project.write(`specs/8_${name}/.postflight-abandoned`, JSON.stringify(text))
        project.write(`specs/9_${name}/.postflight-pending`, name)
        project.write(`specs/10_${name}/workflow/state.json`, name)
        project.write(
          'specs/.postflight/journal.jsonl',
          `${JSON.stringify({ event: name, task: name, detail: name })}\n`,
        )
        const phases = [{ id: 'a', prompt: name, artifact: 'a.md', agent: name }]
        project.write(`${name}.json`, JSON.stringify({ name: `x${name}`, phases }))
        project.write(`specs/${run}/notes.md`, name)
        const words: Readonly<Record<string, string>> = { T: task, R: run, N: name, F: `${name}.json` }
        for (const line of Object.values(LINES).flat()) {
          for (const json of [[], ['--json']]) {
            const { stdout, stderr } = await project.cli([...line.map((word) => words[word] ?? word), ...json])
            expect({ line, found: OBEYED.exec(stdout + stderr)?.[0] }).toEqual({ line, found: undefined })
          }
        }
      }),
      { numRuns: 4 },
    )
  })

  it('leaves only the colours of our own on a terminal', () => {
    const written: string[] = []
    const output = cleanOutput({ write: (text) => written.push(text), isTTY: true, columns: 80 })
    output.write('\u001b[31m✗\u001b[39m a\u001b[2Jb\u001b]8;;x\u0007\u202ec\n')

    expect(written).toEqual(['\u001b[31m✗\u001b[39m a[2Jb]8;;xc\n'])
    expect(output).toMatchObject({ isTTY: true, columns: 80 })
    expect(printable('\u001b[31m✗\u001b[39m', false)).toBe('[31m✗[39m')
  })
})
