import { describe, expect, it } from 'vitest'
import { isInsidePattern, PATTERNS_TOO_WIDE } from '../../../src/kernel/file-pattern.ts'
import { promptBound } from '../../../src/run/definition/bound.ts'
import { DEFINITION_FIELDS, readDefinition, snapshotOf } from '../../../src/run/definition/definition.ts'
import {
  isArtifactPath,
  isInsidePath,
  isPhaseId,
  MAX_PHASE_STEPS,
  MAX_PHASES,
} from '../../../src/run/definition/definition-limits.ts'
import { RULE_TEXT } from '../../../src/run/definition/definition-messages.ts'
import { checkDefinition, checkRules } from '../../../src/run/definition/definition-rules.ts'
import { checkShape } from '../../../src/run/definition/definition-schema.ts'
import { keysOf } from '../../../src/run/definition/fields.ts'
import { CHECK_FIELDS, PHASE_FIELDS } from '../../../src/run/definition/phase-fields.ts'
import { mermaidLines } from '../../../src/run/machine/picture.ts'
import { ready } from '../../property/run/arbitraries.ts'
import { readSchema } from '../../support/json-schemas.ts'

const PHASE = { id: 'a', prompt: 'p', artifact: 'a.json' }
const leaving = (id: string, artifact: string) => ({ id, prompt: 'p', artifact })
/** Takes its steps from the artifact of `PHASE`. */
const TAKES = { id: 'b', steps: { from: 'a.json', pointer: '' } }
const CASES = { pass: 'end', fail: 'end', verdict: '/k', cases: { bug: 'end' } }
const LISTS = { ...PHASE, check: { json_schema: { type: 'array' } } }

describe('the shape of a definition', () => {
  const shapeFaults = (value: unknown): [path: string, detail: string][] => {
    const shape = checkShape(value)
    return 'faults' in shape ? shape.faults.map(({ path, detail }) => [path.join('.'), detail]) : []
  }

  it.each([
    [{ name: 'x' }, 'phases', 'is missing, and must be a list'],
    [{ name: 'x', phases: 3 }, 'phases', 'must be a list'],
    [{ name: 'x', phases: [] }, 'phases', 'must have at least 1 entry'],
    [{ name: '', phases: [PHASE] }, 'name', 'must be at least 1 character long'],
    [{ name: 'x'.repeat(101), phases: [PHASE] }, 'name', 'must be at most 100 characters long'],
    [{ name: 'x', phase: [PHASE] }, 'phase', 'unknown field "phase" (did you mean "phases"?)'],
  ])('%j has a fault at %s: %s', (value, path, detail) => expect(new Map(shapeFaults(value)).get(path)).toBe(detail))

  it.each([
    [{ gate: 'loose' }, 'gate', 'must be one of "strict", "advisory"'],
    [{ max_attempts: 0 }, 'max_attempts', 'must be at least 1'],
    [{ max_attempts: 1.5 }, 'max_attempts', 'must be a whole number'],
    [{ next: 3 }, 'next', 'must be a string or an object'],
    [{ next: { verdict: 'ok' } }, 'next.verdict', 'must be a JSON pointer, such as "/steps" or "/result/passed"'],
    [{ next: { pass: 'end' } }, 'next.fail', 'is missing, and must be a string'],
    [{ next: { pass: 'end', fail: 'end', verdict: '', more: 1 } }, 'next.more', 'unknown field "more"'],
    [{ more: 1 }, 'more', 'unknown field "more"'],
    [{ prompts: 'p' }, 'prompts', 'unknown field "prompts" (did you mean "prompt"?)'],
    [{ check: { min_byte: 1 } }, 'check.min_byte', 'unknown field "min_byte" (did you mean "min_bytes"?)'],
    [{ check: { phases: 1 } }, 'check.phases', 'unknown field "phases"'],
    [{ next: { verdikt: '' } }, 'next.verdikt', 'unknown field "verdikt" (did you mean "verdict"?)'],
    [{ steps: { form: 'a' } }, 'steps.form', 'unknown field "form" (did you mean "from"?)'],
    [{ steps: { from: 't', checklist: true, pointer: '' } }, 'steps.checklist', expect.stringContaining('not go with')],
    [{ steps: [3] }, 'steps.0', 'must be a string or an object'],
    [{ step_check: { json_shema: {} } }, 'step_check.json_shema', expect.stringContaining('mean "json_schema"')],
  ])('of a phase with %j has a fault at %s: %s', (more, path, detail) => {
    const faults = new Map(shapeFaults({ name: 'x', phases: [{ ...PHASE, ...more }] }))
    expect(faults.get(`phases.0.${path}`)).toEqual(detail)
  })

  it.each([
    ['cases', { next: { verdict: '/k', cases: { bug: 'end' }, defalt: 'end' } }, 'next.defalt'],
    ['a pass and a fail', { next: { verdict: '/k', pass: 'end', fail: 'end', raeson: '/r' } }, 'next.raeson'],
    ['a list of tasks', { steps: { from: 't.md', checklist: true, item: 1 } }, 'steps.item'],
    ['a list in an artifact', { steps: { from: 't.json', pointer: '/a', item: 1 } }, 'steps.item'],
  ])('takes %s for what it resembles most, and reports only the faults of that', (_what, more, path) => {
    expect(shapeFaults({ name: 'x', phases: [{ ...PHASE, ...more }] }).map(([at]) => at)).toEqual([`phases.0.${path}`])
  })

  it('reports every fault at once', () => {
    expect(shapeFaults({ name: 1, phases: [{ id: 1 }, { id: 2, foo: 1 }], bar: 1 })).toHaveLength(5)
  })
})

describe('the rules of a definition', () => {
  const faultsOf = (...phases: object[]): string[] => {
    const shape = checkShape({ name: 'x', phases })
    if (!('value' in shape)) throw new Error(JSON.stringify(shape.faults))
    return checkRules(shape.value).faults.map(({ path, detail }) => `${path.join('.')}: ${detail}`)
  }

  const ONLY_STEPS = { id: 'a', steps: ['x'] }
  const both = (pass: string, fail: string): object => ({ next: { pass, fail, verdict: '' } })
  const STEPS = { id: 'b', steps: ['x'] }
  const READER = { id: 'c', prompt: '{{artifact:a}} {{artifact:b}}', artifact: 'c.md' }
  const below = (artifact: string, other: string) => `0.artifact: ${RULE_TEXT.belowArtifact(artifact, other)}`
  const noField = (name: string): string => RULE_TEXT.placeholder(`step.${name}`)
  it.each([
    [{ ...PHASE, id: 'end' }, `id: ${RULE_TEXT.id('end')}`],
    [{ ...PHASE, id: '../x' }, `id: ${RULE_TEXT.id('../x')}`],
    [{ ...PHASE, prompt_file: 'p.md' }, 'prompt_file: give prompt or prompt_file, not both'],
    [{ ...ONLY_STEPS, step_prompt: 'a', step_prompt_file: 'b' }, `step_prompt_file: ${RULE_TEXT.both('step_prompt')}`],
    [{ id: 'a', prompt: 'p' }, 'a phase needs an artifact or steps, which show that it is done'],
    [{ id: 'a', steps: [] }, 'steps: a phase without an artifact needs at least one step'],
    [{ id: 'a', artifact: 'a' }, 'a phase without steps needs a prompt or a prompt_file'],
    [{ ...PHASE, on_exhausted: 'stop' }, 'on_exhausted: on_exhausted is allowed only in a phase with steps'],
    [{ ...PHASE, step_prompt: 'x' }, 'step_prompt: step_prompt is allowed only in a phase with steps'],
    [{ ...PHASE, artifact: '/etc/passwd' }, `artifact: ${RULE_TEXT.path('/etc/passwd')}`],
    [{ ...ONLY_STEPS, check: { json: true } }, 'check: check needs an artifact'],
    [{ id: 'a', artifact: 'a', prompt_file: '../p' }, `prompt_file: ${RULE_TEXT.promptPath('../p')}`],
    [{ ...ONLY_STEPS, step_prompt_file: '/p' }, `step_prompt_file: ${RULE_TEXT.promptPath('/p')}`],
    [{ ...PHASE, prompt: '{{taks}} {{ task }}' }, 'prompt: unknown placeholder {{taks}} (did you mean {{task}}?)'],
    [{ ...ONLY_STEPS, step_prompt: '{{colour}}' }, 'step_prompt: unknown placeholder {{colour}}'],
    [{ ...PHASE, prompt: '{{artifact:a}} {{ artifact:b }}' }, `prompt: ${RULE_TEXT.placeholder('artifact:b')}`],
    [{ id: 'a', steps: ['x', { a: 'y' }], step_prompt: '{{step.a}} {{step.b}}' }, `step_prompt: ${noField('b')}`],
    [{ ...PHASE, check: { files: ['src'] } }, 'check.files: check.files is allowed only beside check.run'],
    [{ ...PHASE, check: { run: 'make', files: ['src/**', '../x'] } }, `check.files.1: ${RULE_TEXT.pattern('../x')}`],
    [{ ...PHASE, check: { run: 'make', files: ['{a,b}'.repeat(40)] } }, `check.files: ${PATTERNS_TOO_WIDE}`],
    [{ ...PHASE, check: { json_schema: { minimum: 'x' } } }, 'check.json_schema.minimum: minimum must be a number'],
    [{ ...PHASE, check: { json_schema: { enun: 1 } } }, `check.json_schema.enun: ${RULE_TEXT.unknownKeyword('enun')}`],
    [{ ...PHASE, check: { json_schema: { items: 3 } } }, `check.json_schema.items: ${RULE_TEXT.notSchema(20)}`],
    [{ ...PHASE, steps: { from: '../x', pointer: '' } }, `steps.from: ${RULE_TEXT.path('../x')}`],
    [{ ...PHASE, next: 'nowhere' }, 'next: unknown phase "nowhere"'],
    [{ ...PHASE, next: 'ende' }, 'next: unknown phase "ende" (did you mean "end"?)'],
    [{ ...PHASE, ...both('ende', 'end') }, 'next.pass: unknown phase "ende" (did you mean "end"?)'],
    [{ ...PHASE, ...both('end', 'ende') }, 'next.fail: unknown phase "ende" (did you mean "end"?)'],
    [{ ...ONLY_STEPS, ...both('a', 'end') }, 'next: a verdict needs an artifact'],
  ])('%j has one fault: %s', (phase, fault) => {
    const isOfPhase = fault.startsWith('a phase')
    expect(faultsOf(phase)).toEqual([`phases.0${isOfPhase ? ': ' : '.'}${fault}`])
  })

  it.each<[object]>([
    [{ id: 'a', prompt_file: 'p.md', artifact: 'a' }],
    [{ ...PHASE, steps: ['x'], step_prompt_file: 'p.md' }],
    [{ ...ONLY_STEPS, step_prompt: 'p' }],
    [{ id: 'a', artifact: 'a', steps: [] }],
  ])('%j has no fault', (phase) => expect(faultsOf(phase)).toEqual([]))

  it.each<[string, object[], string[]]>([
    ['an id that differs only in case', [PHASE, leaving('A', 'b')], [`1.id: ${RULE_TEXT.twin('A')}`]],
    ['an artifact of that name', [PHASE, leaving('b', 'A.json')], [`1.artifact: ${RULE_TEXT.twinArtifact('A.json')}`]],
    ['artifacts that only their capitals make equal', [leaving('a', 'Straße.md'), leaving('b', 'strasse.md')], []],
    ['the artifact of a phase with none', [PHASE, STEPS, READER], [`2.prompt: ${RULE_TEXT.placeholder('artifact:b')}`]],
    ['an artifact below another', leavingAll('Out/x/b.txt', 'out', 'outer/b.txt'), [below('Out/x/b.txt', 'Out')]],
    ['an artifact in the folder of another', leavingAll('out/x/b.txt', 'out/x'), [below('out/x/b.txt', 'out/x')]],
  ])('hold for all phases together: %s', (_what, phases, faults) => {
    expect(faultsOf(...phases)).toEqual(faults.map((fault) => `phases.${fault}`))
  })
})

/** Phases that leave these artifacts. */
const leavingAll = (...artifacts: string[]) => artifacts.map((artifact, at) => leaving(`p${at}`, artifact))
const endless = (at: number, id: string): string => `${at}.next: ${RULE_TEXT.endless(id)}`

describe('a definition with faults of shape and of sense', () => {
  const check = (value: unknown): { faults: string[]; warnings: string[] } => {
    const { faults, warnings } = checkDefinition(value)
    return {
      faults: faults.map(({ path }) => path.join('.')).sort(),
      warnings: warnings.map(({ path, detail }) => `${path.join('.')}: ${detail}`),
    }
  }

  const BOTH = [
    { ...PHASE, gate: 'loose', next: 'nowhere', foo: 1 },
    { id: 'A', prompt: '{{taks}}', artifact: '../x', check: { json_schema: { pattern: 'x' } } },
    { id: 'c' },
  ]

  it('gets all faults of its shape at once, and no others', () => {
    const faults = ['name', 'phases.0.foo', 'phases.0.gate']
    expect(check({ name: 3, phases: BOTH })).toEqual({ faults, warnings: [] })
  })

  it('gets all faults of its sense at once if its shape is right', () => {
    const { gate: _gate, foo: _foo, ...first } = BOTH[0] as Record<string, unknown>
    expect(check({ name: 'x', phases: [first, ...BOTH.slice(1)] }).faults).toEqual(
      [
        ...['phases.0.next', 'phases.1.artifact', 'phases.1.check.json_schema.pattern'],
        ...['phases.1.id', 'phases.1.prompt', 'phases.2', 'phases.2'],
      ].sort(),
    )
  })

  it.each([
    ['a prompt of the wrong type', { ...PHASE, prompt: 3 }, ['phases.0.prompt']],
    ['an artifact of the wrong type', { id: 'a', prompt: 'p', artifact: 3 }, ['phases.0.artifact']],
    [
      'an artifact of the wrong type, with a check and a verdict',
      { ...PHASE, artifact: 3, check: { json: true }, next: { pass: 'end', fail: 'a', verdict: '/x' } },
      ['phases.0.artifact'],
    ],
    ['steps of the wrong type', { ...PHASE, steps: 3, step_prompt: 'x' }, ['phases.0.steps']],
    ['one step of the wrong type', { id: 'a', steps: ['x', 3, ''] }, ['phases.0.steps.1', 'phases.0.steps.2']],
    ['a phase that is a number', 3, ['phases.0']],
    ['an id that is a number', { prompt: 'p', artifact: 'a', id: 5 }, ['phases.0.id']],
    ['a missing id', { prompt: 'p', artifact: 'a' }, ['phases.0.id']],
    ['a missing verdict', { ...PHASE, next: { pass: 'end', fail: 'end' } }, ['phases.0.next.verdict']],
    ['an incomplete next', { ...PHASE, next: { verdict: '/x' } }, ['phases.0.next.fail', 'phases.0.next.pass']],
    ['an empty next', { ...PHASE, next: {} }, ['fail', 'pass', 'verdict'].map((name) => `phases.0.next.${name}`)],
    ['an incomplete source of steps', { id: 'a', steps: {} }, ['phases.0.steps.from', 'phases.0.steps.pointer']],
    ['a wrong check', { ...PHASE, check: { min_bytes: 'x' } }, ['phases.0.check.min_bytes']],
    ['a wrong check without an artifact', { id: 'a', steps: ['x'], check: { json: 3 } }, ['phases.0.check.json']],
  ])('gets no faults that only follow from %s', (_what, phase, faults) => {
    expect(check({ name: 'x', phases: [phase] })).toEqual({ faults, warnings: [] })
  })

  const TYPO = { ...PHASE, prompt: '{{taks}}' }
  it('gets no faults of its sense without a name', () => {
    expect(check({ phases: [TYPO] })).toEqual({ faults: ['name'], warnings: [] })
  })

  it('with too many phases gets only that fault', () => {
    const phases = Array.from({ length: 2001 }, (_, index) => ({ ...PHASE, id: `p${index}`, gate: 'loose' }))
    expect(check({ name: 'x', phases }).faults.filter((path) => !path.endsWith('.gate'))).toEqual(['phases'])
  })

  it.each([3, null, {}, { name: 'x', phases: 3 }, { phases: [] }])('%j cannot be checked further', (value) => {
    expect(checkDefinition(value).file).toBeUndefined()
  })

  const LOOP = { ...PHASE, next: 'a' }
  const UNMADE = { id: 'b', steps: { from: 'z.json', pointer: '' } }
  const unmade = `1.steps.from: ${RULE_TEXT.unmade('z.json')}`
  const both = [`0.id: ${RULE_TEXT.unbounded('a')}`, endless(0, 'a'), `1.id: ${RULE_TEXT.unreachable('b')}`, unmade]
  const [B, C] = [leaving('b', 'b'), leaving('c', 'c')]
  const way = (pass: string, fail: string) => ({ pass, fail, verdict: '/ok' })
  const to = (id: string, next: unknown): object => ({ ...leaving(id, id), max_visits: 2, next })
  const LOOPS = [
    ...[to('a', way('b', 'c')), to('b', way('end', 'd')), to('c', way('b', 'f'))],
    ...[to('d', 'e'), to('e', 'd'), to('f', 'f')],
  ]
  const CHAIN = ['a', 'b', 'c'].map((id) => leaving(id, id))
  const unbounded = ['b', 'c', 'd'].map((id, at) => `${at + 1}.id: ${RULE_TEXT.unbounded(id)}`)
  const [composed, decomposed] = ['\u00fcber.md', 'u\u0308ber.md']
  const TASKS = { from: 'a.json', checklist: true }
  const BACK = { ...LISTS, next: 'b', max_visits: 2 }
  const later = `0.steps.from: ${RULE_TEXT.madeLater('a.json', 'b')}`
  const unlisted = `1.steps.from: ${RULE_TEXT.unlisted('a.json')}`
  it.each<[string, object[], string[]]>([
    ['an endless loop, and a phase that no path leads to, with steps that no phase lists', [LOOP, UNMADE], both],
    ['the same although another field is wrong', [{ ...LOOP, artifact: '../x' }, UNMADE], both],
    ['only what needs no graph, if that is hidden', [{ ...LOOP, next: 'nowhere' }, UNMADE], [unmade]],
    ['nothing, if the shape is wrong', [{ ...LOOP, gate: 'loose' }, UNMADE], []],
    ['a phase that is passed over', [{ ...PHASE, next: way('c', 'c') }, B, C], [`1.id: ${RULE_TEXT.unreachable('b')}`]],
    ['nothing, if a target is unknown', [{ ...PHASE, next: way('c', 'd') }, B, C], []],
    ['nothing, if an id is wrong', [{ ...PHASE, next: 'c' }, { ...B, id: '5' }, C], []],
    ['nothing, if two ids are equal', [{ ...PHASE, next: 'end' }, { ...B, id: 'A' }, C], []],
    ['no loop in a chain', [...CHAIN, leaving('d', 'd')], []],
    ['each phase of a long loop', [...CHAIN, { ...leaving('d', 'd'), next: way('end', 'b') }], unbounded],
    ['one loop without a way to the end', [to('a', 'b'), to('b', 'a')], [endless(0, 'a')]],
    ['no loop that a passing verdict ends', [to('a', 'b'), to('b', way('end', 'a'))], []],
    ['no loop that a failing verdict ends', [to('a', 'b'), to('b', way('a', 'end'))], []],
    ['each of two such loops, although another way leads to the end', LOOPS, [endless(3, 'd'), endless(5, 'f')]],
    ['only once a loop that no path leads to', [to('a', 'end'), to('b', 'b')], [`1.id: ${RULE_TEXT.unreachable('b')}`]],
    ['two Unicode forms', leavingAll(composed, decomposed), [`1.artifact: ${RULE_TEXT.otherForm(decomposed)}`]],
    ['no names that differ otherwise', leavingAll(composed, 'uber.md'), []],
    ['no equal names, which are a fault', leavingAll(composed, composed), []],
    ['steps from the artifact of a later phase', [TAKES, PHASE], [later]],
    ['tasks from the artifact of a later phase', [{ ...TAKES, steps: TASKS }, PHASE], [later]],
    ['no steps from an artifact with a schema', [LISTS, TAKES], []],
    ['no such steps in a loop', [{ ...TAKES, max_visits: 2 }, BACK], [endless(0, 'b')]],
    ['no later phase, if two phases have the artifact', [LISTS, TAKES, { ...LISTS, id: 'c' }], []],
    ['steps from an artifact without a check', [PHASE, TAKES], [unlisted]],
    ['steps from an artifact that is only JSON', [{ ...PHASE, check: { json: true } }, TAKES], [unlisted]],
  ])('gets warnings about %s', (_what, phases, warnings) => {
    expect(check({ name: 'x', phases }).warnings).toEqual(warnings.map((warning) => `phases.${warning}`))
  })
})

describe('paths and names from a definition', () => {
  it.each([
    ...['a', 'a.json', 'reports/a b.md', 'Ä.md', '...x', 'x'.repeat(200), `${'x/'.repeat(99)}xx`],
    ...['my-workflow', 'reports/artifacts/x', 'workflows/x'],
  ])('%j stays inside its folder', (path) => expect(isArtifactPath(path)).toBe(true))

  it.each([
    ...['', '/a', '../a', 'a/../b', 'a/./b', 'a//b', 'a/', 'C:/x', 'a\\b', 'a\u0000', 'a\n', 'x.', ' x', '.', '..'],
    ...['x'.repeat(201), `${'x/'.repeat(100)}x`, '漢'.repeat(67)],
    ...['workflow/state.json', 'Workflow', 'artifacts/x', 'step-results/a', 'step-result.json', '.postflight-pending'],
    ...['wor\u212aflow/state.json', '.po\u017ftflight-pending'],
  ])('%j is refused as a path', (path) => expect(isArtifactPath(path)).toBe(false))

  it('a prompt file may be in a folder whose name is reserved in a task folder', () => {
    expect([isInsidePath('workflow/plan.md'), isInsidePath('../plan.md')]).toEqual([true, false])
  })

  it.each(['src/**/*.ts', '{src,test}/a..b', 'src/!x', 'ab:c/!/x'])('%j is a pattern below the root', (pattern) => {
    expect(isInsidePattern(pattern)).toBe(true)
  })

  it.each(['a:/b', '/etc/*', '!src', 'src\\x', 'a\u0007b', '..', 'src/../x', '{src,..}/x'])(
    '%j is not a pattern below the root',
    (pattern) => {
      expect(isInsidePattern(pattern)).toBe(false)
    },
  )

  it('an id begins with a letter, is not "end", and has letters, digits, "_" and "-"', () => {
    const ids = ['a', 'a-B_9', 'end', 'END', '9a', 'a/b', 3, null, true]
    expect(ids.filter(isPhaseId)).toEqual(['a', 'a-B_9'])
  })
})

describe('a snapshot', () => {
  it('contains the text of prompt files', () => {
    const phase = { id: 'a', prompt_file: 'p.md', artifact: 'a', steps: ['x'], step_prompt_file: 's.md' }
    const { file } = checkDefinition({ name: 'x', phases: [phase] })
    const texts = file === undefined ? undefined : snapshotOf(file, (name) => `text of ${name}`)
    expect(texts).toMatchObject({ phases: [{ prompt: 'text of p.md', step_prompt: 'text of s.md' }] })
  })

  const TWO = [PHASE, { id: 'b', steps: ['s', { t: 1 }], artifact: 'b.json' }]
  const phasesOf = (...written: object[]): Record<string, unknown>[] =>
    (ready({ name: 'x', phases: written }).definition.snapshot as { phases: Record<string, unknown>[] }).phases
  const changed = (change: object): unknown => {
    const [first, ...others] = phasesOf(...TWO)
    return { name: 'x', phases: [{ ...first, ...change }, ...others] }
  }

  it('has every default filled in', () => {
    const [first, second] = phasesOf(...TWO)
    expect(first).toMatchObject({ gate: 'strict', max_attempts: 3, max_visits: 1, next: { pass: 'b', fail: 'b' } })
    const steps = { steps: ['s', { t: 1 }], max_step_attempts: 3, on_exhausted: 'skip' }
    expect(second).toMatchObject({ ...steps, next: { pass: 'end' } })
    expect(phasesOf({ ...PHASE, gate: 'advisory', next: 'a' })[0]).toMatchObject({ max_attempts: 1, max_visits: 3 })
  })

  it('keeps the order of its fields, whatever the order in the definition', () => {
    const [phase] = phasesOf({
      ...{ on_exhausted: 'stop', max_step_attempts: 2, step_prompt: 's', steps: ['x'], model: 'm', agent: 'g' },
      ...{ max_visits: 4, next: { verdict: '/ok', fail: 'end', pass: 'end' }, max_attempts: 5, gate: 'advisory' },
      ...{ check: { json_schema: true, json: true, min_bytes: 2 }, artifact: 'a.json', prompt: 'p', id: 'a' },
    })
    const check = { min_bytes: 2, json: true, json_schema: true }
    const next = { pass: 'end', fail: 'end', verdict: '/ok' }
    expect(JSON.stringify(phase)).toBe(
      JSON.stringify({
        ...{ id: 'a', prompt: 'p', artifact: 'a.json', check, gate: 'advisory', max_attempts: 5, next, max_visits: 4 },
        ...{ agent: 'g', model: 'm', steps: ['x'], step_prompt: 's', max_step_attempts: 2, on_exhausted: 'stop' },
      }),
    )
  })

  it('has a field for every field of a definition', () => {
    interface Schema {
      readonly properties: Readonly<Record<string, Schema>>
      readonly items: Schema
    }
    const names = (schema: Schema | undefined): string[] => Object.keys(schema?.properties ?? {}).sort()
    const definition = readSchema('workflow.schema.json') as unknown as Schema
    const phase = definition.properties.phases?.items
    expect(names(definition)).toEqual([...keysOf(DEFINITION_FIELDS), '$schema'].sort())
    // The text of a prompt file becomes the prompt.
    expect(names(phase)).toEqual([...keysOf(PHASE_FIELDS), 'prompt_file', 'step_prompt_file'].sort())
    expect(names(phase?.properties.check)).toEqual(keysOf(CHECK_FIELDS).sort())
  })

  it('is read as it was written', () => {
    const check = { run: 'make', files: ['src/**'], min_bytes: 2, json: true, json_schema: { type: 'object' } }
    const steps = { from: 'a.json', pointer: '/steps' }
    const taking = { id: 'b', artifact: 'b', steps }
    const [first, second] = ready({ name: 'x', phases: [{ ...PHASE, check }, taking] }).definition.phases
    const { min_bytes: minBytes, json_schema: jsonSchema, ...same } = check
    expect(first.check).toEqual({ ...same, minBytes, jsonSchema })
    expect(second?.check).toEqual({})
    expect(second?.steps).toEqual({ kind: 'from', artifact: 'a.json', pointer: '/steps' })
  })

  it.each([
    ...[{ id: '../x' }, { id: 'b' }, { gate: 'loose' }, { on_exhausted: 3 }, { approve: 'yes' }, { agent: 3 }],
    ...[{ next: 'b' }, { next: { pass: 'nowhere', fail: 'b' } }, { next: { pass: 'b', fail: 'nowhere' } }],
    ...[{ next: { pass: 3, fail: 'b' } }, { next: { pass: 'b' } }, { next: { pass: 'b', fail: 'b', verdict: 3 } }],
    ...[{ prompt: 3 }, { step_prompt: 3 }, { model: 3 }, { artifact: '../../x' }, { artifact: undefined }],
    ...[{ max_attempts: 0 }, { max_attempts: 1001 }, { max_visits: 'x' }, { max_step_attempts: 1.5 }],
    ...[{ parallel: 0 }, { parallel: 17 }, { max_skips: -1 }],
    ...[{ steps: [3] }, { steps: 'x' }, { steps: null }, { steps: Array(1001).fill('x') }],
    ...[{ steps: { from: '../x', pointer: '' } }, { steps: { from: 3, pointer: '' } }, { steps: { from: 'a.json' } }],
    ...[{ steps: { from: 'a.json', pointer: 3 } }, { steps: { from: 'a.json', pointer: '', checklist: 'yes' } }],
    ...[{ check: { json_schema: { enum: 3 } } }, { step_check: 3 }, { step_check: { json_schema: { enum: 3 } } }],
    ...[{ next: { pass: 'end', fail: 'end', cases: [] } }, { next: { ...CASES, cases: { bug: 'c' } } }],
    ...[{ next: { ...CASES, default: 'c' } }],
  ])('that was changed to %j is refused', (change) => expect(readDefinition(changed(change))).toBeUndefined())

  it.each([
    ...[{ max_attempts: 1000 }, { steps: Array(1000).fill('x') }, { parallel: 16, max_skips: 0 }, { next: CASES }],
    ...[{ check: 3 }, { check: { min_bytes: '2', json: 'yes', run: ' ', files: 'x' } }, { check: { run: 3 } }],
  ])('that was changed to %j can be used', (change) => {
    expect(readDefinition(changed(change))?.phases[0].check).toEqual({})
  })

  it('keeps only the patterns of files that are texts', () => {
    const read = readDefinition(changed({ check: { run: 'make', files: ['a', 3] } }))
    expect(read?.phases[0].check).toEqual({ run: 'make', files: ['a'] })
  })

  it('of the maximum number of phases is read, but not of more', () => {
    const [phase] = phasesOf({ ...PHASE, next: 'end' })
    const all = (count: number) => Array.from({ length: count }, (_, at) => ({ ...phase, id: `p${at}` }))
    const many = (count: number): unknown => ({ name: 'x', phases: all(count) })
    expect(readDefinition(many(MAX_PHASES))?.phases).toHaveLength(MAX_PHASES)
    expect(readDefinition(many(MAX_PHASES + 1))).toBeUndefined()
  })

  it.each([3, null, {}, { name: 'x' }, { name: 'x', phases: [] }])('%j is refused', (value) => {
    expect(readDefinition(value)).toBeUndefined()
  })

  const inputs = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`i${at}`, {}]))
  it('is refused with a phase that is a number', () => {
    expect(readDefinition({ name: 'x', phases: [...phasesOf(...TWO), 3] })).toBeUndefined()
  })

  it.each<object>([{ name: 3 }, { inputs: [] }, { inputs: { x: 'y' } }, { inputs }, { max_prompts: '3' }])(
    'whose own fields were changed to %j is refused',
    (change) => {
      expect(readDefinition(changed({}))).toBeDefined()
      expect(readDefinition({ ...Object(changed({})), ...change })).toBeUndefined()
    },
  )
})

// In each visit three prompts may go out again.
it.each([
  ['the attempts at an artifact', [{ ...PHASE, max_attempts: 4 }], 4 + 3],
  ['the attempts at steps', [{ id: 'a', steps: ['x', 'y', 'z'], max_step_attempts: 2 }], 6 + 3],
  ['both together', [{ ...PHASE, max_attempts: 4, steps: ['x', 'y', 'z'], max_step_attempts: 2 }], 10 + 3],
  ['every visit', [{ ...PHASE, next: 'a', max_visits: 5, max_attempts: 2 }], 5 * (2 + 3)],
  ['every phase', [PHASE, { ...PHASE, id: 'b', artifact: 'b', max_attempts: 5 }], 8 + 2 * 3],
  ['unknown steps as the maximum', [PHASE, { ...TAKES, max_step_attempts: 2 }], 3 + MAX_PHASE_STEPS * 2 + 2 * 3],
])('the maximum number of prompts counts %s', (_what, phases, bound) => {
  expect(promptBound(ready({ name: 'x', phases }).definition)).toBe(bound)
})

describe('a diagram', () => {
  it('shows edges, verdicts and steps, and escapes the names in labels', () => {
    const next = { pass: 'end', fail: 'b', verdict: '' }
    const first = { ...PHASE, artifact: 'a];b.json', next, max_visits: 2 }
    const second = { id: 'b', steps: ['s'], next: 'a', max_visits: 2 }
    const { definition } = ready({ name: 'x', phases: [first, second] })
    expect(mermaidLines(definition)).toEqual([
      ...['flowchart TD', '  start(( )) --> p_a', '  p_a["a<br/>a#93;#59;b.json"]', '  p_a -- pass --> finish'],
      ...['  p_a -- fail --> p_b', '  p_b["b<br/>1 step"]', '  p_b --> p_a', '  finish(("end"))'],
    ])
  })

  it('has no node name that Mermaid reads as an arrow', () => {
    const { definition } = ready({ name: 'x', phases: [PHASE, { ...PHASE, id: 'b--c-', artifact: 'b.json' }] })
    expect(mermaidLines(definition)).toEqual([
      ...['flowchart TD', '  start(( )) --> p_a', '  p_a["a<br/>a.json"]', '  p_a --> p_2'],
      ...['  p_2["b--c-<br/>b.json"]', '  p_2 --> finish', '  finish(("end"))'],
    ])
  })

  it('shows the source of steps, or their number', () => {
    const { definition } = ready({ name: 'x', phases: [PHASE, TAKES, { id: 'c', steps: ['x', 'y'] }] })
    const lines = ['  p_b["b<br/>steps from a.json"]', '  p_c["c<br/>2 steps"]']
    expect(mermaidLines(definition)).toEqual(expect.arrayContaining(lines))
  })
})
