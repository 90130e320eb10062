import { describe, expect, it } from 'vitest'
import { createSourceProject, type JsonDocument } from '../../support/project.ts'

/** Definitions that should make `workflow validate` fail, hang or print megabytes. */

const names = (count: number, name: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => name(index)).join('\n')

const PHASE = '  - { id: a, prompt: p, artifact: a.md'

describe('a hostile definition', () => {
  it.each<[string, string, string]>([
    ['an anchor that contains itself', 'name: x\nphases: &a [*a]', 'nested too deeply'],
    ['many unknown fields', names(60_000, (index) => `k${index}: 1`), 'unknown field "k0"'],
    [
      'a const that is nested deeply',
      `name: x\nphases:\n${PHASE}, check: { json_schema: { const: ${'['.repeat(200)}${']'.repeat(200)} } } }`,
      'nested too deeply',
    ],
    [
      'many unknown targets',
      `name: x\nphases:\n${names(2_000, (index) => `  - { id: a${index}, prompt: p, artifact: a${index}, next: ${'b'.repeat(50)}${index} }`)}`,
      'unknown phase',
    ],
  ])('gets a fault in time, and no more than a hundred: %s', async (_, text, expected) => {
    const project = createSourceProject({ files: { 'flow.yaml': text } })
    const before = process.cpuUsage()
    const run = await project.cli(['workflow', 'validate', 'flow.yaml', '--json'])
    const { user, system } = process.cpuUsage(before)
    expect(run.status).toBe(1)
    const { faults } = run.json()
    expect(faults.map(({ detail }: JsonDocument) => detail).join('\n')).toContain(expected)
    expect(faults.length).toBeLessThanOrEqual(100)
    // Usually under a second; 20 s and more before.
    expect((user + system) / 1000).toBeLessThan(10_000)
  })
})
