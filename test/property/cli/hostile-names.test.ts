import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CommandName } from '../../../src/cli/commands/command-list.ts'
import { cleanOutput, printable } from '../../../src/views/print.ts'
import { createSourceProject } from '../../support/project.ts'

/** What a terminal would obey, and what changes the direction of text. */
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

const PARTS = ['\u001b[31m', '\u001b]8;;x\u0007', '\u001b[2J', '\u009b2J', '\u007f', '\u202e', '\u2066', '\u0007']
const hostile = fc
  .array(fc.constantFrom(...PARTS, '\r', '\b', 'a', ' '), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join(''))

/**
 * The words after every command: T is a task with a marker, R one with a run, N a name, F a definition. A command that is
 * missing here does not compile.
 */
const LINES: Readonly<Record<CommandName, readonly string[]>> = {
  create: ['T', 'N N'],
  status: ['', '--shared N', '--github', '--session N', '--watch'],
  statusline: [''],
  report: ['', 'T'],
  completion: ['fish'],
  complete: ['-- clear ', '-- workflow validate '],
  inspect: ['', 'T'],
  step: ['T N'],
  wait: ['T --for N'],
  explain: [''],
  done: ['--list'],
  trust: ['--yes'],
  logs: [''],
  init: ['--dry-run'],
  install: ['--scope local --dry-run'],
  uninstall: ['--scope local --dry-run'],
  doctor: [''],
  'workflow validate': ['F', 'N'],
  'workflow start': ['R --definition F'],
  'workflow status': ['', 'R'],
  'workflow next': ['R'],
  'workflow approve': ['R'],
  'workflow reject': ['R --reason N'],
  'workflow retry': ['R --step 1'],
  'workflow skip': ['R --step 1'],
  'workflow check': ['R'],
  'workflow stop': ['R'],
  'workflow resume': ['R'],
  'workflow share': ['R N'],
  'workflow publish': ['R'],
  'workflow release': ['R'],
  'workflow history': ['R'],
  'workflow simulate': ['F'],
  'workflow graph': ['F', 'R'],
  'workflow abort': ['R'],
  adopt: ['T --host-session other'],
  bypass: ['T'],
  clear: ['T --dry-run', 'T', '--all'],
}

const ALL_LINES = Object.entries(LINES).flatMap(([command, lines]) =>
  lines.map((line) => [...command.split(' '), ...(line === '' ? [] : line.split(' '))]),
)

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
        const entry = JSON.stringify({ event: name, task: name, detail: name })
        project.write(
          'specs/.postflight/journal.jsonl',
          `${entry}
`,
        )
        const phases = [{ id: 'a', prompt: name, artifact: 'a.md', agent: name }]
        project.write(`${name}.json`, JSON.stringify({ name: `x${name}`, phases }))
        project.write(`specs/${run}/notes.md`, name)
        const words: Readonly<Record<string, string>> = { T: task, R: run, N: name, F: `${name}.json` }
        for (const line of ALL_LINES) {
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
