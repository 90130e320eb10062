/** `workflow validate` for people: every fault of a file at once, each with its place. */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PACKAGE } from '../../support/process.ts'
import { createSourceProject, type JsonDocument } from '../../support/project.ts'

/** The faults of `validate --json` for a file, as `line:column where`. */
async function placesIn(name: string, text: string): Promise<{ faults: string[]; warnings: string[]; status: number }> {
  const project = createSourceProject()
  project.write(name, text)
  const run = await project.cli(['workflow', 'validate', name, '--json'])
  const { faults, warnings } = run.json()
  const place = ({ line, column, where }: JsonDocument): string => `${line}:${column} ${where}`
  return { faults: faults.map(place), warnings: warnings.map(place), status: run.status ?? -1 }
}

const YAML = `name: x
phases:
  - id: a
    prompt: "{{taks}}"
    artifact: a.json
    next: nowhere
  - id: A
    artifact: ../b
    check:
      json_schema: { type: object, properties: { "a/b": { format: date } } }
  - id: c
    prompt_file: missing.md
    artifact: c
`

const WRONG_SHAPE = `name: x
phases:
  - id: a
    prompt: "{{taks}}"
    artifact: a.json
    gate: loose
    next: nowhere
    foo: 1
  - prompt_file: missing.md
    artifact: c
    steps: [one, 3]
`

const JSON_TEXT = `{
\t"name": "x",
\t"phases": [
\t\t{ "id": "a", "prompt": "{{taks}}", "artifact": "a.json",
\t\t  "next": "nowhere" },
\t\t{ "id": "A",
\t\t  "artifact": "../b" }
\t]
}
`

describe('workflow validate', () => {
  it('lists every fault in the sense of a YAML file and its prompt files, in order, one on a line', async () => {
    const project = createSourceProject()
    project.write('flow.yaml', YAML)
    const run = await project.cli(['workflow', 'validate', 'flow.yaml'])
    expect(run.stdout.split('\n')).toHaveLength(9)
    expect(run.stdout).toContain('✗ flow.yaml:6:5  phases.0.next: unknown phase "nowhere"\n')
    expect(run.stdout).toContain('unknown keyword "format": the keywords are type, enum, const,')
    expect(run.stdout).toMatch(/\n7 faults\n$/)
    const { faults, status } = await placesIn('flow.yaml', YAML)
    expect(status).toBe(1)
    expect(faults).toEqual([
      '4:5 phases.0.prompt',
      '6:5 phases.0.next',
      '7:5 phases.1',
      '7:5 phases.1.id',
      '8:5 phases.1.artifact',
      '10:59 phases.1.check.json_schema.properties.a/b.format',
      '12:5 phases.2.prompt_file',
    ])
  })

  it('lists only the faults of the shape where the shape is wrong', async () => {
    const { faults, status } = await placesIn('flow.yaml', WRONG_SHAPE)
    expect(status).toBe(1)
    expect(faults).toEqual(['6:5 phases.0.gate', '8:5 phases.0.foo', '9:5 phases.1.id', '11:18 phases.1.steps.1'])
  })

  it('lists every fault of a JSON file, at the same places with CRLF and a byte order mark', async () => {
    const wanted = [
      '4:16 phases.0.prompt',
      '5:5 phases.0.next',
      '6:3 phases.1',
      '6:5 phases.1.id',
      '7:5 phases.1.artifact',
    ]
    for (const text of [JSON_TEXT, `\ufeff${JSON_TEXT}`, JSON_TEXT.replaceAll('\n', '\r\n')]) {
      expect((await placesIn('flow.json', text)).faults).toEqual(wanted)
    }
  })

  it('reports a missing quote as one fault at its place, with a hint', async () => {
    const page = readFileSync(`${PACKAGE}/docs/workflow.md`, 'utf8')
    const example = /```yaml\n(# yaml-language-server[^`]*)```/.exec(page)?.[1] ?? ''
    const project = createSourceProject()
    project.write('flow.yaml', example)
    expect((await project.cli(['workflow', 'validate', 'flow.yaml'])).status).toBe(0)
    project.write('flow.yaml', example.replace("prompt: 'Break", 'prompt: Break'))
    const run = await project.cli(['workflow', 'validate', 'flow.yaml'])
    expect(run.stdout).toBe(
      '✗ flow.yaml:5:13  Nested mappings are not allowed in compact mappings (a string that contains ": " needs quotes)\n1 fault\n',
    )
  })

  it.each([
    ['flow.json', '{"name": "x" "phases": []}', ['1:14 '], 'invalid JSON: comma expected'],
    ['flow.json', '{"name": "x", "phases": [],}', ['1:28 '], 'invalid JSON: property name expected'],
    ['flow.yaml', 'name: x\nphases:\n  - id: a\n   prompt: p\n', ['4:1 '], 'Sequence item'],
    ['flow.yaml', 'name: x: y\nphases: []\n', ['1:7 '], 'contains ": " needs quotes'],
    ['flow.yaml', 'name: x\nname: y\nphases: []\n', ['2:1 '], 'Map keys must be unique'],
    ['flow.yaml', '---\nname: x\n---\nname: y\n', ['3:1 '], 'put each definition in its own file'],
    ['flow.yaml', '', ['1:1 '], 'must be an object'],
    ['flow.json', '[]', ['1:1 '], 'must be an object'],
  ])('reports the syntax error in %s: %j', async (name, text, places, detail) => {
    const project = createSourceProject()
    project.write(name, text)
    expect(await placesIn(name, text)).toEqual({ faults: places, warnings: [], status: 1 })
    expect((await project.cli(['workflow', 'validate', name])).stdout).toContain(detail)
  })

  it('ends quickly for a file of nested aliases', async () => {
    const rows = [
      'a: &a [1,1]',
      ...['b', 'c', 'd', 'e'].map((name, at) => `${name}: &${name} [${`*${'abcde'[at]},`.repeat(20)}]`),
    ]
    expect((await placesIn('flow.yaml', rows.join('\n'))).faults).toEqual(['1:1 '])
  })

  it.each([
    ['flow.json', '['.repeat(200_000) + ']'.repeat(200_000)],
    ['flow.yaml', '['.repeat(5000) + ']'.repeat(5000)],
    ['flow.json', `{"name": "x", "phases": [{"id": "a", "steps": [${'{"x":'.repeat(9000)}1${'}'.repeat(9000)}]}]}`],
  ])('reports that %s is nested too deeply, without an internal error', async (name, text) => {
    const project = createSourceProject()
    project.write(name, text)
    for (const words of [
      ['validate', name],
      ['start', '7', 'x', '--definition', name],
    ]) {
      const run = await project.cli(['workflow', ...words])
      expect(run.status).toBe(words[0] === 'validate' ? 1 : 65)
      expect(run.stdout + run.stderr).toContain('nested too deeply to be read')
    }
  })

  it('reports an unusual key once, and prints nothing on stderr', async () => {
    const project = createSourceProject()
    project.write('flow.yaml', '? [a, b]\n: c\nname: x\nphases: []\n')
    expect(await project.cli(['workflow', 'validate', 'flow.yaml'])).toMatchObject({ status: 1, stderr: '' })
  })

  it('accepts a YAML anchor that phases share', async () => {
    const text = 'name: x\nphases:\n  - &p {id: a, prompt: p, artifact: a}\n  - <<: *p\n    id: b\n    artifact: b\n'
    expect(await placesIn('flow.yaml', text)).toEqual({ faults: [], warnings: [], status: 0 })
  })

  it('prints warnings at their places, beside the faults', async () => {
    const text = `name: x
phases:
  - id: a
    steps: { from: b.txt, pointer: "" }
    next: b
    max_attempts: 3
    check: { json: true }
  - id: b
    prompt: p
    artifact: b.txt
    next: b
  - id: c
    steps: { from: z.json, pointer: "" }
`
    expect(await placesIn('flow.yaml', text)).toEqual({
      faults: ['7:5 phases.0.check'],
      warnings: [
        '4:14 phases.0.steps.from',
        '5:5 phases.0.next',
        '8:5 phases.1.id',
        '12:5 phases.2.id',
        '13:14 phases.2.steps.from',
      ],
      status: 1,
    })
  })

  it('uses the singular for one fault, one phase and one prompt', async () => {
    const project = createSourceProject()
    const phases = [{ id: 'a', prompt: 'p', artifact: 'a.txt', max_attempts: 1 }]
    project.write('flow.json', JSON.stringify({ name: 'x', phases }))
    project.write('none.json', '{"name": "", "phases": []}')
    const validated = await project.cli(['workflow', 'validate', 'flow.json'])
    const faulty = await project.cli(['workflow', 'validate', 'none.json'])
    const started = await project.cli(['workflow', 'start', '7', 'x', '--definition', 'flow.json'])
    await project.cli(['workflow', 'next', '7'])
    const finished = await project.cli(['workflow', 'next', '7'])
    for (const { stdout } of [validated, started]) expect(stdout).toMatch(/: 1 phase, at most 4 prompts\n/)
    expect(faulty.stdout).toMatch(/name: must be at least 1 character long\n.*phases: must have at least 1 entry\n/)
    expect(finished.stdout).toBe(
      'finish: stalled (1 attempt failed: a.txt is missing)\n`postflight workflow resume 007_x` continues it\n',
    )
  })

  it.each(['missing.yaml', '.'])('prints one line for %s, which is not a file', async (name) => {
    const run = await createSourceProject().cli(['workflow', 'validate', name])
    expect(run).toMatchObject({ status: 65, stdout: '' })
    expect(run.stderr).toMatch(/^postflight: \S+ (does not exist: [^\n]+|cannot be read \(a folder\)[^\n]*)\n$/)
  })
})
