import { describe, expect, it } from 'vitest'
import { checkDefinition } from '../../src/core/workflow/check.ts'
import { isArtifactPath, isInsidePath, isPhaseId, readDefinition } from '../../src/core/workflow/definition.ts'
import { mermaidLines } from '../../src/core/workflow/mermaid.ts'
import { checkRules } from '../../src/core/workflow/rules.ts'
import { checkShape } from '../../src/core/workflow/schema.ts'
import { snapshotOf } from '../../src/core/workflow/snapshot.ts'
import { ready } from '../property/workflow-arbitraries.ts'

const PHASE = { id: 'a', prompt: 'p', artifact: 'a.json' }

describe('the shape of a definition', () => {
  it.each([
    [{ name: 'x' }, 'phases', 'must be an array'],
    [{ name: 'x', phases: [] }, 'phases', 'must be at least 1 entries'],
    [{ name: '', phases: [PHASE] }, 'name', 'must be at least 1 characters long'],
    [{ name: 'x'.repeat(101), phases: [PHASE] }, 'name', 'must be at most 100 characters long'],
    [{ name: 'x', phases: [{ ...PHASE, gate: 'loose' }] }, 'phases.0.gate', 'must be one of "strict", "advisory"'],
    [{ name: 'x', phases: [{ ...PHASE, max_attempts: 0 }] }, 'phases.0.max_attempts', 'must be at least 1'],
    [{ name: 'x', phases: [{ ...PHASE, max_attempts: 1.5 }] }, 'phases.0.max_attempts', 'must be a whole number'],
    [{ name: 'x', phases: [{ ...PHASE, next: 3 }] }, 'phases.0.next', 'must be a string or an object'],
    [
      { name: 'x', phases: [{ ...PHASE, next: { pass: 'end', fail: 'end', verdict: 'ok' } }] },
      'phases.0.next.verdict',
      'must be a JSON pointer',
    ],
    [{ name: 'x', phases: [{ ...PHASE, next: { pass: 'end' } }] }, 'phases.0.next.fail', 'must be a string'],
    [{ name: 'x', phases: [{ ...PHASE, more: 1 }] }, 'phases.0.more', 'nobody knows "more"'],
    [{ name: 'x', phases: [{ id: 'a', steps: [3] }] }, 'phases.0.steps.0', 'must be a string or an object'],
  ])('%j is told at %s', (value, path, detail) => {
    const shape = checkShape(value)
    const faults = 'faults' in shape ? shape.faults : []
    expect(faults.map((fault) => fault.path.join('.'))).toContain(path)
    expect(faults.find((fault) => fault.path.join('.') === path)?.detail).toContain(detail)
  })

  it('tells every fault at once', () => {
    const shape = checkShape({ name: 1, phases: [{ id: 1 }, { id: 2, foo: 1 }], bar: 1 })
    expect('faults' in shape && shape.faults).toHaveLength(5)
  })
})

describe('the rules of a definition', () => {
  const faultsOf = (...phases: object[]): string[] => {
    const shape = checkShape({ name: 'x', phases })
    if (!('file' in shape)) throw new Error(JSON.stringify(shape.faults))
    return checkRules(shape.file).faults.map(({ path, detail }) => `${path.slice(1).join('.')}: ${detail}`)
  }

  it.each([
    [{ ...PHASE, id: 'end' }, '0.id'],
    [{ ...PHASE, id: '../x' }, '0.id'],
    [{ ...PHASE, prompt_file: 'p.md' }, '0.prompt_file'],
    [{ ...PHASE, steps: ['x'], step_prompt: 'a', step_prompt_file: 'b' }, '0.step_prompt_file'],
    [{ id: 'a', prompt: 'p' }, '0'],
    [{ id: 'a', steps: [] }, '0.steps'],
    [{ id: 'a', artifact: 'a' }, '0'],
    [{ ...PHASE, on_exhausted: 'stop' }, '0.on_exhausted'],
    [{ ...PHASE, artifact: '/etc/passwd' }, '0.artifact'],
    [{ id: 'a', steps: ['x'], check: { json: true } }, '0.check'],
    [{ id: 'a', artifact: 'a', prompt_file: '../p' }, '0.prompt_file'],
    [{ ...PHASE, prompt: '{{taks}}' }, '0.prompt'],
    [{ ...PHASE, check: { json_schema: { pattern: 'x' } } }, '0.check.json_schema.pattern'],
    [{ ...PHASE, steps: { from: '../x', pointer: '' } }, '0.steps.from'],
    [{ ...PHASE, next: 'nowhere' }, '0.next'],
    [{ ...PHASE, next: { pass: 'x', fail: 'end', verdict: '' } }, '0.next.pass'],
    [{ id: 'a', steps: ['x'], next: { pass: 'a', fail: 'end', verdict: '' } }, '0.next'],
  ])('%j has a fault at %s', (phase, path) => {
    expect(faultsOf(phase).map((fault) => fault.split(': ')[0])).toContain(path)
  })

  it('names and artifacts that some file system cannot tell apart are one', () => {
    expect(faultsOf(PHASE, { ...PHASE, id: 'A', artifact: 'A.json' })).toHaveLength(2)
  })

  it('no artifact lies below another, in whatever order and case they come', () => {
    const leaving = (id: string, artifact: string) => ({ id, prompt: 'p', artifact })
    expect(faultsOf(leaving('a', 'Out/x/b.txt'), leaving('b', 'out'), leaving('c', 'outer/b.txt'))).toEqual([
      '0.artifact: "Out/x/b.txt" would lie below "Out", which a phase leaves as a file',
    ])
  })
})

describe('a definition with faults of shape and of sense', () => {
  const check = (value: unknown): { faults: string[]; warnings: string[] } => {
    const { faults, warnings } = checkDefinition(value)
    return {
      faults: faults.map(({ path }) => path.join('.')).sort(),
      warnings: warnings.map(({ path, detail }) => `${path.join('.')}: ${detail}`),
    }
  }

  it('is told both at once', () => {
    const phases = [
      { ...PHASE, gate: 'loose', next: 'nowhere', foo: 1 },
      { id: 'A', prompt: '{{taks}}', artifact: '../x', check: { json_schema: { pattern: 'x' } } },
      { id: 'c' },
    ]
    expect(check({ name: 3, phases }).faults).toEqual(
      [
        ...['name', 'phases.0.foo', 'phases.0.gate', 'phases.0.next', 'phases.1.artifact'],
        ...['phases.1.check.json_schema.pattern', 'phases.1.id', 'phases.1.prompt', 'phases.2', 'phases.2'],
      ].sort(),
    )
  })

  it.each([
    ['a prompt of the wrong type is there', { ...PHASE, prompt: 3 }, ['phases.0.prompt']],
    ['so is an artifact', { id: 'a', prompt: 'p', artifact: 3 }, ['phases.0.artifact']],
    [
      'its check still has one, and so has its verdict',
      { ...PHASE, artifact: 3, check: { json: true }, next: { pass: 'end', fail: 'a', verdict: '/x' } },
      ['phases.0.artifact'],
    ],
    ['so are steps', { ...PHASE, steps: 3, step_prompt: 'x' }, ['phases.0.steps']],
    ['one step', { id: 'a', steps: ['x', 3, ''] }, ['phases.0.steps.1', 'phases.0.steps.2']],
    ['a phase that is none', 3, ['phases.0']],
    ['a name that is none', { prompt: 'p', artifact: 'a', id: 5 }, ['phases.0.id']],
    ['a name that is missing', { prompt: 'p', artifact: 'a' }, ['phases.0.id']],
    ['a verdict that is missing', { ...PHASE, next: { pass: 'end', fail: 'end' } }, ['phases.0.next.verdict']],
    ['half of a next', { ...PHASE, next: { verdict: '/x' } }, ['phases.0.next.fail', 'phases.0.next.pass']],
    ['half of a source of steps', { id: 'a', steps: {} }, ['phases.0.steps.from', 'phases.0.steps.pointer']],
    ['a check of the wrong type', { ...PHASE, check: { min_bytes: 'x' } }, ['phases.0.check.min_bytes']],
  ])('is told nothing that only follows: %s', (_what, phase, faults) => {
    expect(check({ name: 'x', phases: [phase] }).faults).toEqual(faults)
  })

  it('knows a phase by the name that it was given, even where that is none', () => {
    expect(
      check({
        name: 'x',
        phases: [
          { ...PHASE, next: '5' },
          { ...PHASE, id: 5, artifact: 'b' },
        ],
      }).faults,
    ).toEqual(['phases.1.id'])
  })

  it('with far too many phases is told only that', () => {
    const phases = Array.from({ length: 2001 }, (_, index) => ({ ...PHASE, id: `p${index}`, gate: 'loose' }))
    expect(check({ name: 'x', phases }).faults.filter((path) => !path.endsWith('.gate'))).toEqual(['phases'])
  })

  it.each([3, null, {}, { name: 'x', phases: 3 }, { phases: [] }])('%j has nothing left to check', (value) => {
    expect(checkDefinition(value).file).toBeUndefined()
  })

  it('is warned of what no fault makes doubtful', () => {
    const loop = { ...PHASE, next: 'a' }
    const takes = { id: 'b', steps: { from: 'z.json', pointer: '' } }
    const warnings = (...phases: object[]): string[] => check({ name: 'x', phases }).warnings
    expect(warnings(loop, takes)).toEqual([
      'phases.0.id: phase "a" lies on a loop and sets no max_visits: 3 is assumed',
      'phases.1.id: phase "b" cannot be reached',
      'phases.1.steps.from: no phase leaves "z.json"',
    ])
    // A fault elsewhere changes none of that; one that hides where phases lead leaves only what it does not touch.
    expect(warnings({ ...loop, gate: 'loose' }, takes)).toHaveLength(3)
    expect(warnings({ ...loop, artifact: '../x' }, takes)).toHaveLength(3)
    expect(warnings({ ...loop, next: 'nowhere' }, takes)).toEqual(['phases.1.steps.from: no phase leaves "z.json"'])
    expect(warnings({ ...loop, next: 3 }, takes)).toEqual(['phases.1.steps.from: no phase leaves "z.json"'])
  })

  it('is warned of steps from an artifact that is only left later', () => {
    const takes = { id: 'b', steps: { from: 'a.json', pointer: '' } }
    const warnings = (...phases: object[]): string[] => check({ name: 'x', phases }).warnings
    expect(warnings(takes, PHASE)).toEqual(['phases.0.steps.from: "a.json" is left by no phase that comes before "b"'])
    expect(warnings(PHASE, takes)).toEqual([])
    expect(warnings({ ...takes, max_visits: 2 }, { ...PHASE, next: 'b', max_visits: 2 })).toEqual([])
  })
})

describe('paths and names from a definition', () => {
  it.each(['a', 'a.json', 'reports/a b.md', 'Ä.md', '...x'])('%j stays inside', (path) => {
    expect(isArtifactPath(path)).toBe(true)
  })

  it.each([
    ...[
      '',
      '/a',
      '../a',
      'a/../b',
      'a/./b',
      'a//b',
      'a/',
      'C:/x',
      'a\\b',
      'a\u0000',
      'a\n',
      'x.',
      ' x',
      'x'.repeat(201),
      '漢'.repeat(67),
    ],
    ...['workflow/state.json', 'Workflow', 'artifacts/x', 'step-results/a', 'step-result.json', '.postflight-pending'],
  ])('%j does not', (path) => {
    expect(isArtifactPath(path)).toBe(false)
  })

  it('a prompt file may lie in a folder that only a task folder keeps to itself', () => {
    expect([isInsidePath('workflow/plan.md'), isInsidePath('../plan.md')]).toEqual([true, false])
  })

  it.each([
    ['a', true],
    ['a-B_9', true],
    ['end', false],
    ['END', false],
    ['9a', false],
    ['a/b', false],
    [3, false],
  ])('%j as an id: %s', (id, expected) => {
    expect(isPhaseId(id)).toBe(expected)
  })
})

describe('what a rule says of a schema', () => {
  it.each([
    [{ pattern: 'x' }, '"pattern" would not be checked: the keywords are type, enum, const,'],
    [{ minimum: 'x' }, 'minimum must be a number'],
    [{ items: 3 }, 'must be an object or a boolean, no more than 20 deep'],
  ])('%j: %s', (json_schema, text) => {
    const { faults } = checkDefinition({ name: 'x', phases: [{ ...PHASE, check: { json_schema } }] })
    expect(faults.map(({ detail }) => detail)).toEqual([expect.stringContaining(text)])
  })
})

describe('a snapshot', () => {
  it('holds the text of prompt files', () => {
    const phase = { id: 'a', prompt_file: 'p.md', artifact: 'a', steps: ['x'], step_prompt_file: 's.md' }
    const { file } = checkDefinition({ name: 'x', phases: [phase] })
    const texts = file === undefined ? undefined : snapshotOf(file, (name) => `text of ${name}`)
    expect(texts).toMatchObject({ phases: [{ prompt: 'text of p.md', step_prompt: 'text of s.md' }] })
  })

  const { snapshot } = ready({ name: 'x', phases: [PHASE, { id: 'b', steps: ['s', { t: 1 }], artifact: 'b.json' }] })
  const phases = (snapshot as { phases: Record<string, unknown>[] }).phases

  it('has every default filled in', () => {
    expect(phases[0]).toMatchObject({ gate: 'strict', max_attempts: 3, max_visits: 1, next: { pass: 'b', fail: 'b' } })
    expect(phases[1]).toMatchObject({
      steps: ['s', '{"t":1}'],
      max_step_attempts: 3,
      on_exhausted: 'skip',
      next: { pass: 'end' },
    })
  })

  it.each([
    [{ id: '../x' }],
    [{ gate: 'loose' }],
    [{ on_exhausted: 3 }],
    [{ next: 'b' }],
    [{ next: { pass: 'nowhere', fail: 'b' } }],
    [{ next: { pass: 3, fail: 'b' } }],
    [{ prompt: 3 }],
    [{ max_attempts: 0 }],
    [{ max_visits: 'x' }],
    [{ artifact: '../../x' }],
    [{ artifact: undefined }],
    [{ steps: [3] }],
    [{ steps: 'x' }],
    [{ steps: { from: '../x', pointer: '' } }],
    [{ id: 'b' }],
    [{ check: { json_schema: { enum: 3 } } }],
  ])('that somebody changed to %j is refused', (change) => {
    const changed = { name: 'x', phases: [{ ...phases[0], ...change }, phases[1]] }
    expect(readDefinition(changed)).toBeUndefined()
  })

  it.each([3, null, {}, { name: 'x' }, { name: 'x', phases: [] }, { name: 'x', phases: [3] }])(
    '%j is none',
    (value) => {
      expect(readDefinition(value)).toBeUndefined()
    },
  )
})

describe('a diagram', () => {
  it('shows ways, verdicts and steps, and no name ends a label', () => {
    const { definition } = ready({
      name: 'x',
      phases: [
        { ...PHASE, artifact: 'a];b.json', next: { pass: 'end', fail: 'b', verdict: '' }, max_visits: 2 },
        { id: 'b', steps: ['s'], next: 'a', max_visits: 2 },
      ],
    })
    expect(mermaidLines(definition)).toEqual([
      'flowchart TD',
      '  start(( )) --> p_a',
      '  p_a["a<br/>a#93;#59;b.json"]',
      '  p_a -- pass --> finish',
      '  p_a -- fail --> p_b',
      '  p_b["b<br/>1 step"]',
      '  p_b --> p_a',
      '  finish(("end"))',
    ])
  })

  it('names no node by what Mermaid reads as an arrow', () => {
    const { definition } = ready({ name: 'x', phases: [PHASE, { ...PHASE, id: 'b--c-', artifact: 'b.json' }] })
    expect(mermaidLines(definition)).toEqual([
      ...['flowchart TD', '  start(( )) --> p_a', '  p_a["a<br/>a.json"]', '  p_a --> p_2'],
      ...['  p_2["b--c-<br/>b.json"]', '  p_2 --> finish', '  finish(("end"))'],
    ])
  })

  it('shows where steps come from', () => {
    const { definition } = ready({ name: 'x', phases: [PHASE, { id: 'b', steps: { from: 'a.json', pointer: '' } }] })
    expect(mermaidLines(definition)).toContain('  p_b["b<br/>steps from a.json"]')
  })
})
