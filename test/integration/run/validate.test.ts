/** `workflow validate` for people: every fault of a file at once, each with its place. */

import { describe, expect, it } from 'vitest'
import { createProject, createSourceProject, type JsonDocument } from '../../support/project.ts'

/** The faults of `validate --json` for a file, as `line:column where`. */
async function placesIn(name: string, text: string): Promise<{ faults: string[]; warnings: string[]; status: number }> {
  const project = createSourceProject({ files: { [name]: text } })
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
    prompt_file: empty.md
    artifact: ../b
    check:
      json_schema: { type: object, properties: { "a/b": { format: date } } }
  - id: c
    prompt_file: missing.md
    artifact: c
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
    const project = createSourceProject({ files: { 'flow.yaml': YAML, 'empty.md': '' } })
    const run = await project.cli(['workflow', 'validate', 'flow.yaml'])
    expect(run.stdout.split('\n')).toHaveLength(9)
    expect(run.stdout).toContain('✗ flow.yaml:6:5  phases.0.next: unknown phase "nowhere"\n')
    expect(run.stdout).toContain('prompt_file: empty.md: empty\n')
    expect(run.stdout).toContain('unknown keyword "format": the keywords are type, enum, const,')
    expect(run.stdout).toMatch(/\n7 faults\n$/)
    const { faults, status } = await placesIn('flow.yaml', YAML)
    expect(status).toBe(1)
    expect(faults).toEqual([
      '4:5 phases.0.prompt',
      '6:5 phases.0.next',
      '7:5 phases.1.id',
      '8:5 phases.1.prompt_file',
      '9:5 phases.1.artifact',
      '11:59 phases.1.check.json_schema.properties.a/b.format',
      '13:5 phases.2.prompt_file',
    ])
  })

  it('lists every fault of a JSON file, at the same places with CRLF and a byte order mark', async () => {
    const phases = ['6:3 phases.1', '6:5 phases.1.id', '7:5 phases.1.artifact']
    const wanted = ['4:16 phases.0.prompt', '5:5 phases.0.next', ...phases]
    for (const text of [JSON_TEXT, `\ufeff${JSON_TEXT}`, JSON_TEXT.replaceAll('\n', '\r\n')]) {
      expect((await placesIn('flow.json', text)).faults).toEqual(wanted)
    }
  })

  it.each([
    ['flow.json', '{"name": "x" "phases": []}', ['1:14 '], 'invalid JSON: comma expected'],
    ['flow.yaml', 'name: x: y\nphases: []\n', ['1:7 '], 'contains ": " needs quotes'],
    ['flow.yaml', '', ['1:1 '], 'must be an object'],
  ])('reports the syntax error in %s: %j', async (name, text, places, detail) => {
    const project = createSourceProject({ files: { [name]: text } })
    expect(await placesIn(name, text)).toEqual({ faults: places, warnings: [], status: 1 })
    const { stdout } = await project.cli(['workflow', 'validate', name])
    expect(stdout).toContain(detail)
    expect(stdout).toMatch(/\n1 fault; the rest is checked once it is fixed\n$/)
  })

  it('reports that a file is nested too deeply, without an internal error', async () => {
    // As a process: a stack that overflows can end the worker of the tests.
    const project = createProject()
    project.write('flow.json', '['.repeat(200_000) + ']'.repeat(200_000))
    for (const [words, status] of [
      ['validate flow.json', 1],
      ['start 7 x --definition flow.json', 65],
    ] as const) {
      const run = await project.cli(['workflow', ...words.split(' ')])
      expect(run.status).toBe(status)
      expect(run.stdout + run.stderr).toContain('nested too deeply to be read')
    }
  })

  it('reports an unusual key once, and prints nothing on stderr', async () => {
    const project = createSourceProject({ files: { 'flow.yaml': '? [a, b]\n: c\nname: x\nphases: []\n' } })
    expect(await project.cli(['workflow', 'validate', 'flow.yaml'])).toMatchObject({ status: 1, stderr: '' })
  })

  it('prints warnings at their places, beside the faults', async () => {
    const text = `name: x
phases:
  - { id: a, steps: { from: b.txt, pointer: "" }, next: b, max_attempts: 3, check: { json: true } }
  - { id: b, prompt: p, artifact: b.txt, next: b }
`
    expect(await placesIn('flow.yaml', text)).toEqual({
      faults: ['3:77 phases.0.check'],
      warnings: ['3:23 phases.0.steps.from', '3:51 phases.0.next', '4:7 phases.1.id'],
      status: 1,
    })
  })

  it.each(['missing.yaml', '.'])('prints one line for %s, which is not a file', async (name) => {
    const run = await createSourceProject().cli(['workflow', 'validate', name])
    expect(run).toMatchObject({ status: 65, stdout: '' })
    expect(run.stderr).toMatch(/^postflight: \S+ (does not exist: [^\n]+|cannot be read \(a folder\)[^\n]*)\n$/)
  })
})
