import { describe, expect, it } from 'vitest'
import { MAIN_AGENT } from '../../../src/hosts/host.ts'
import { known } from '../../../src/kernel/values.ts'
import {
  checksSessionOf,
  commandsOf,
  DEFAULT_REASON,
  failedField,
  formatMarker,
  MARKER_MAX_BYTES,
  type NewMarker,
  newMarkerFields,
  parseCheck,
  parseFailure,
  parseMarker,
  remainingSteps,
  sameChecks,
  unparsed,
  withFields,
} from '../../../src/marker/marker.ts'
import { isMarkerId } from '../../../src/project/task-folder.ts'
import { marker, PATTERN_MARKER, PATTERN_MARKER_QUOTED, thrownBy } from '../builders.ts'

/** The content of a marker that could not be understood. */
const UNKNOWN = { fields: undefined, bypassed: false, steps: [], checks: [] }

describe('the marker of the original pattern', () => {
  it('from an unquoted heredoc is read completely, and has no owner', () => {
    const { fields, ...read } = parseMarker(PATTERN_MARKER)
    expect(read).toEqual({
      problems: [],
      sessionId: 'sess_1736700000_abc123',
      skill: 'skill-lean-research',
      taskNumber: 259,
      operation: 'research',
      reason: 'Postflight pending: status update, artifact linking, git commit',
      createdMs: Date.UTC(2026, 0, 18, 10),
      bypassed: false,
      steps: [],
      checks: [],
    })
    expect(Object.keys(fields ?? {})).toHaveLength(7)
  })

  it('from a quoted heredoc has a literal $task_number and is not JSON, but still a marker', () => {
    const read = parseMarker(PATTERN_MARKER_QUOTED)
    expect(read).toMatchObject(UNKNOWN)
    expect(read.problems).toEqual([{ code: 'unfilled', variable: '$session_id' }])
  })

  it.each(['session_id', 'cc_session_id', 'agent_id', 'agent_type', 'created', 'skill', 'operation'])(
    'with an unfilled variable in %s names it',
    (field) => {
      for (const variable of ['$name', '${' + 'name}']) {
        expect(parseMarker(JSON.stringify({ [field]: `x_${variable}` })).problems).toContainEqual({
          code: 'unfilled',
          variable,
        })
      }
    },
  )

  it('may speak of variables in its reason, and of money', () => {
    expect(parseMarker(JSON.stringify({ reason: 'set $HOME', operation: 'costs $5' })).problems).toEqual([])
  })

  it('from a quoted heredoc with a written number is usable, except for the literal time', () => {
    const read = parseMarker(PATTERN_MARKER_QUOTED.replace('$task_number', '259'))
    expect(read).toMatchObject({ taskNumber: 259, sessionId: '$session_id', operation: 'research' })
    expect(read.problems).toEqual([
      { code: 'unfilled', variable: '$session_id' },
      { code: 'field', field: 'created', expected: 'time' },
    ])
    expect(read.createdMs).toBeUndefined()
  })

  it('is bypassed after jq set stop_hook_active', () => {
    expect(parseMarker(PATTERN_MARKER.replace('": false', '": true')).bypassed).toBe(true)
  })

  it('reads the same with Windows line ends', () => {
    const { fields, ...read } = parseMarker(PATTERN_MARKER.replaceAll('\n', '\r\n'))
    const { fields: plain, ...expected } = parseMarker(PATTERN_MARKER)
    expect(read).toEqual(expected)
    expect(fields).toEqual(plain)
  })

  it('reads the same with a byte-order mark', () => {
    expect(parseMarker(`\ufeff${PATTERN_MARKER}`)).toEqual(parseMarker(PATTERN_MARKER))
  })
})

describe('any file of that name is a marker, whatever its content', () => {
  it.each([
    ['an empty file (`touch`)', '', 'empty'],
    ['blank lines', ' \r\n\t\n', 'empty'],
    ['a byte-order mark alone', '\ufeff', 'empty'],
    ['a bare id', 'sess_1736700000_abc123\n', 'not-json'],
    ['key=value lines', 'session_id=sess_1\nreason=commit\n', 'not-json'],
    ['half of a write', '{"session_id": "sess_1", "rea', 'not-json'],
    ['a comment in it', '{"reason": "x"} // todo', 'not-json'],
    ['single quotes', "{'reason': 'x'}", 'not-json'],
    ['two objects', '{}{}', 'not-json'],
    ['two byte-order marks', '\ufeff\ufeff{}', 'not-json'],
    ['a raw newline in a string', '{"reason": "a\nb"}', 'not-json'],
    ['an array', '[{"reason": "x"}]', 'not-object'],
    ['null', 'null', 'not-object'],
    ['a number', '259', 'not-object'],
    ['a string', '"sess_1"', 'not-object'],
    ['true', 'true', 'not-object'],
  ])('%s', (_, text, code) => {
    const read = parseMarker(text)
    expect(read).toEqual({ ...UNKNOWN, problems: [expect.objectContaining({ code })] })
  })

  it('a parse error has the message of the parser', () => {
    const [problem] = parseMarker('{"a" 1}').problems
    expect(problem).toMatchObject({ code: 'not-json', detail: expect.stringMatching(/JSON/) })
  })

  it('an empty object is a marker without problems', () => {
    expect(parseMarker('{}')).toStrictEqual({ ...UNKNOWN, fields: {}, problems: [] })
  })

  it('a marker that is too large is not parsed', () => {
    const fitting = `{"reason":"${'x'.repeat(MARKER_MAX_BYTES - 13)}"}`
    expect(fitting).toHaveLength(MARKER_MAX_BYTES)
    expect(parseMarker(fitting).problems).toEqual([])
    expect(parseMarker(`${fitting} `)).toEqual({ ...UNKNOWN, problems: [{ code: 'too-large' }] })
  })

  it('deep nesting is read', () => {
    const depth = 20_000
    expect(parseMarker(`{"x":${'['.repeat(depth)}${']'.repeat(depth)},"reason":"r"}`)).toMatchObject({ reason: 'r' })
    expect(parseMarker('['.repeat(depth)).problems).toMatchObject([{ code: 'not-json' }])
  })

  it('a file that cannot be read as text is a marker too', () => {
    expect(unparsed({ code: 'too-large' })).toEqual({ ...UNKNOWN, problems: [{ code: 'too-large' }] })
  })
})

describe('fields', () => {
  const STRINGS = [
    ['id', 'id'],
    ['session_id', 'sessionId'],
    ['skill', 'skill'],
    ['operation', 'operation'],
    ['reason', 'reason'],
    ['cc_session_id', 'hostSession'],
    ['agent_id', 'agent'],
    ['agent_type', 'agentType'],
    ['owner_from', 'ownerFrom'],
    ['checks_session', 'checksSession'],
    ['outcome', 'outcome'],
  ] as const

  it.each(STRINGS)('%s is read as a string', (field, property) => {
    const read = marker({ [field]: ' some text ' })
    expect(read[property]).toBe(' some text ')
    expect(read.problems).toEqual([])
  })

  it.each(STRINGS)('%s of another type is unknown, and a problem', (field, property) => {
    for (const value of [5, true, false, 0, [], {}, ['s1']]) {
      const read = marker({ [field]: value, other: 1 })
      expect(property in read).toBe(false)
      expect(read.problems).toEqual([{ code: 'field', field, expected: 'text' }])
      expect(read.fields).toEqual({ [field]: value, other: 1 })
    }
  })

  it.each(STRINGS)('an empty or null %s is unknown, but not a problem', (field, property) => {
    for (const value of ['', null]) {
      const read = marker({ [field]: value })
      expect(property in read).toBe(false)
      expect(read.problems).toEqual([])
    }
  })

  it.each([
    [259, 259, 0],
    [0, 0, 0],
    [1.5, 1.5, 0],
    [null, undefined, 0],
    ['259', undefined, 1],
    ['', undefined, 1],
    [[259], undefined, 1],
    [true, undefined, 1],
  ])('task_number %j reads as %s', (value, expected, problems) => {
    const read = marker({ task_number: value })
    expect(read.taskNumber).toBe(expected)
    expect(read.problems).toHaveLength(problems)
    for (const problem of read.problems) expect(problem).toMatchObject({ field: 'task_number', expected: 'number' })
  })

  it.each([
    ['2026-01-18T10:00:00Z', Date.UTC(2026, 0, 18, 10), []],
    ['', undefined, []],
    [null, undefined, []],
    ['yesterday', undefined, [{ code: 'field', field: 'created', expected: 'time' }]],
    [1_768_730_400, undefined, [{ code: 'field', field: 'created', expected: 'text' }]],
  ])('created %j reads as %s', (value, expected, problems) => {
    const read = marker({ created: value })
    expect(read.createdMs).toBe(expected)
    expect(read.problems).toEqual(problems)
  })

  it.each([['stop_hook_active', 'bypassed']] as const)('%s counts only if it is exactly true', (field, property) => {
    expect(marker({ [field]: true })[property]).toBe(true)
    for (const value of [false, null])
      expect(marker({ [field]: value })).toMatchObject({ [property]: false, problems: [] })
    for (const value of ['true', 1, 'false', {}, []]) {
      expect(marker({ [field]: value })).toMatchObject({
        [property]: false,
        problems: [{ code: 'field', field, expected: 'flag' }],
      })
    }
  })

  it('a wait and the number of waits are read', () => {
    const read = marker({ wait: { for: 'go-ahead', count: 2, prompt_id: 'p1' }, waits: 1 })
    expect(read).toMatchObject({ wait: { for: 'go-ahead', count: 2, promptId: 'p1' }, waits: 1, problems: [] })
    const none = marker({ wait: null, waits: null })
    expect(none.problems).toEqual([])
    expect('wait' in none || 'waits' in none).toBe(false)
    expect(marker({ waits: 0 })).toMatchObject({ waits: 0, problems: [] })
  })

  it.each([
    [{ wait: 'go-ahead' }, { field: 'wait', expected: 'wait' }],
    [{ wait: { for: '', count: 1 } }, { field: 'wait', expected: 'wait' }],
    [{ waits: -1 }, { field: 'waits', expected: 'count' }],
    [{ waits: '2' }, { field: 'waits', expected: 'count' }],
  ])('%j is unknown, and a problem', (fields, problem) => {
    const read = marker(fields)
    expect(read.problems).toEqual([{ code: 'field', ...problem }])
    expect('wait' in read || 'waits' in read).toBe(false)
  })

  it('one wrong field leaves the others usable', () => {
    expect(marker({ reason: 5, created: 'x', agent_id: 'a1', cc_session_id: 's1' })).toMatchObject({
      agent: 'a1',
      hostSession: 's1',
      problems: [{ field: 'created' }, { field: 'reason' }],
    })
  })
})

describe('keys with the names of inherited properties', () => {
  const text = '{"__proto__":{"reason":"r","stop_hook_active":true},"constructor":"c","toString":1,"reason":"mine"}'

  it('are never inherited', () => {
    const read = parseMarker(text)
    expect(read).toMatchObject({ bypassed: false, reason: 'mine', problems: [] })
    const only = parseMarker('{"__proto__":{"reason":"r","cc_session_id":"s","stop_hook_active":true}}')
    expect(only).toMatchObject({ bypassed: false, problems: [] })
    expect(only.reason).toBeUndefined()
    expect(only.hostSession).toBeUndefined()
    expect(({} as { reason?: string }).reason).toBeUndefined()
  })

  it('are kept on a rewrite', () => {
    const rewritten = formatMarker(withFields(parseMarker(text).fields ?? {}, { agent_id: 'a1' }))
    expect(JSON.stringify(JSON.parse(rewritten))).toBe(text.replace(/\}$/, ',"agent_id":"a1"}'))
  })
})

describe('steps', () => {
  it.each([
    [
      'objects',
      [
        { name: 'git commit', done: false },
        { name: 'status', done: true },
      ],
      ['git commit', 'status✓'],
    ],
    ['without done', [{ name: 'a' }], ['a']],
    [
      'done that is not exactly true',
      [
        { name: 'a', done: 'yes' },
        { name: 'b', done: 1 },
      ],
      ['a', 'b'],
    ],
    ['bare names', ['a', 'b'], ['a', 'b']],
    ['both', ['a', { name: 'b', done: true, note: 'x' }], ['a', 'b✓']],
    ['an empty name', [{ name: '' }, ''], ['', '']],
    ['no steps', [], []],
  ])('%s', (_, steps, expected) => {
    const read = marker({ steps })
    expect(read.steps.map((step) => step.name + (step.done ? '✓' : ''))).toEqual(expected)
    expect(read.problems).toEqual([])
  })

  it.each([
    ['a string', 'git commit'],
    ['an object', { name: 'a' }],
    ['a number', 3],
    ['true', true],
  ])('%s is not a list', (_, steps) => {
    expect(marker({ steps })).toMatchObject({
      steps: [],
      problems: [{ code: 'field', field: 'steps', expected: 'list' }],
    })
  })

  it('null means no checklist, and is not a problem', () => {
    expect(marker({ steps: null })).toMatchObject({ steps: [], problems: [] })
  })

  it.each([null, 5, true, {}, [], ['a'], { name: 5 }, { done: true }, { title: 'a' }])(
    'an item %j is left out, and a problem',
    (item) => {
      const read = marker({ steps: ['a', item, 'b'] })
      expect(read.steps.map((step) => step.name)).toEqual(['a', 'b'])
      expect(read.problems).toEqual([{ code: 'field', field: 'steps', expected: 'steps' }])
    },
  )

  it('at most a hundred steps are read', () => {
    const read = marker({ steps: Array.from({ length: 101 }, (_, index) => `step ${index + 1}`) })
    expect(read.steps).toHaveLength(100)
    expect(read.steps.at(-1)?.name).toBe('step 100')
  })

  it('the remaining steps are those not done, in order', () => {
    const read = marker({ steps: ['a', { name: 'b', done: true }, 'c'] })
    expect(remainingSteps(read).map((step) => step.name)).toEqual(['a', 'c'])
  })
})

describe('rewriting a marker', () => {
  it('keeps unknown fields and their order', () => {
    const { fields } = marker({ zeta: { deep: [1] }, reason: 'r', alpha: null, stop_hook_active: false })
    const changed = withFields(fields ?? {}, { stop_hook_active: true, agent_id: 'a1' })
    expect(Object.entries(changed)).toEqual([
      ['zeta', { deep: [1] }],
      ['reason', 'r'],
      ['alpha', null],
      ['stop_hook_active', true],
      ['agent_id', 'a1'],
    ])
  })

  it('removes a field with a change to undefined', () => {
    expect(withFields({ a: 1, b: 2 }, { a: undefined, c: undefined })).toEqual({ b: 2 })
    expect(Object.keys(withFields({ a: 1, b: 2 }, { a: undefined }))).toEqual(['b'])
  })

  it('does not change its arguments', () => {
    const fields = Object.freeze({ a: 1 })
    expect(withFields(fields, { a: 2 })).toEqual({ a: 2 })
    expect(fields).toEqual({ a: 1 })
  })

  it('writes JSON for people: indented by two spaces, with a newline at the end', () => {
    expect(formatMarker({ a: 1, b: ['x'] })).toBe('{\n  "a": 1,\n  "b": [\n    "x"\n  ]\n}\n')
  })

  it('writes one line if only that fits, to the byte', () => {
    const around = formatMarker({ a: '' }).length
    const fitting = { a: 'x'.repeat(MARKER_MAX_BYTES - around) }
    expect(formatMarker(fitting)).toBe(`{\n  "a": "${fitting.a}"\n}\n`)
    const longer = { a: `${fitting.a}x` }
    expect(formatMarker(longer)).toBe(`{"a":"${longer.a}"}\n`)
  })

  it('refuses fields that could not be read back: too many bytes, or nested too deeply', () => {
    const longest = { a: 'x'.repeat(MARKER_MAX_BYTES - '{"a":""}\n'.length) }
    expect(formatMarker(longest)).toHaveLength(MARKER_MAX_BYTES)
    const deep = parseMarker(`{"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`).fields
    for (const fields of [{ a: `${longest.a}x` }, { a: longest.a.replace('x', 'ä') }, deep]) {
      expect(thrownBy(() => formatMarker(fields ?? {}))).toMatchObject({
        code: 'marker-too-large',
        args: { limit: MARKER_MAX_BYTES },
      })
    }
  })

  it('leaves out undefined values, and no others', () => {
    expect(known({ a: undefined, b: null, c: 0, d: '', e: false })).toEqual({ b: null, c: 0, d: '', e: false })
    expect('a' in known({ a: undefined })).toBe(false)
  })
})

describe('a new marker', () => {
  const least: NewMarker = {
    id: 'pf_abcdefgh1234',
    sessionId: 'sess_1',
    skill: 'skill-x',
    taskNumber: 7,
    operation: 'research',
    reason: 'commit',
    createdMs: Date.UTC(2026, 0, 18, 10, 0, 0, 999),
  }

  it('has the fields of the original pattern in their order, after the id', () => {
    expect(Object.entries(newMarkerFields(least))).toEqual([
      ['id', 'pf_abcdefgh1234'],
      ['session_id', 'sess_1'],
      ['skill', 'skill-x'],
      ['task_number', 7],
      ['operation', 'research'],
      ['reason', 'commit'],
      ['created', '2026-01-18T10:00:00Z'],
      ['stop_hook_active', false],
    ])
  })

  it('has its owner and its steps if they are known', () => {
    const steps = [{ name: 'git commit', done: false }]
    const fields = newMarkerFields({ ...least, hostSession: 's1', agent: MAIN_AGENT, agentType: 'worker', steps })
    expect(Object.entries(fields).slice(8)).toEqual([
      ['cc_session_id', 's1'],
      ['agent_id', 'main'],
      ['agent_type', 'worker'],
      ['steps', steps],
    ])
  })

  it('without steps has no empty checklist', () => {
    expect('steps' in newMarkerFields({ ...least, steps: [] })).toBe(false)
  })

  it('is read without a problem', () => {
    const read = parseMarker(formatMarker(newMarkerFields({ ...least, hostSession: 's1', agent: 'a1' })))
    expect(read).toMatchObject({ id: least.id, taskNumber: 7, hostSession: 's1', agent: 'a1', problems: [] })
  })
})

describe('the ids of markers', () => {
  it.each(['pf_abcdefgh1234', 'pf_ABCDEFGHIJKL', 'pf_000000000000'])('include %s', (id) => {
    expect(isMarkerId(id)).toBe(true)
  })

  it.each([
    'pf_abcdefgh123',
    'pf_abcdefgh12345',
    'pf_abcdefgh123/',
    'pf_../../../etc',
    'PF_abcdefgh1234',
    'xpf_abcdefgh1234',
    'pf_abcdefgh1234\n',
    'pf_abcdefgh123ä',
    '',
    undefined,
    null,
    5,
    ['pf_abcdefgh1234'],
  ])('do not include %j', (id) => {
    expect(isMarkerId(id)).toBe(false)
  })
})

it('the words that other programs rely on', () => {
  expect(DEFAULT_REASON).toBe('Postflight operations pending')
  expect(MAIN_AGENT).toBe('main')
})

describe('checks', () => {
  it('are commands, each for the marker or for a step, with their last failure', () => {
    const failed = { exit_code: 3, output: 'red\n' }
    const checks = [
      { run: 'npm test', failed },
      { run: 'make', step: 'build', more: 1 },
    ]
    expect(marker({ checks })).toMatchObject({
      problems: [],
      checks: [
        { run: 'npm test', failed: { failure: { kind: 'exited', exitCode: 3 }, output: 'red\n' } },
        { run: 'make', step: 'build' },
      ],
    })
  })

  it('are twenty at most', () => {
    const checks = Array.from({ length: 20 }, (_, index) => ({ run: `c${index}` }))
    expect(marker({ checks })).toMatchObject({ problems: [], checks })
  })

  it.each([
    ['a string', 'npm test', 0],
    ['entries without a command', [{ run: 'a' }, {}, 'x', { run: ' ' }, null], 1],
    ['more than twenty', Array.from({ length: 21 }, (_, index) => ({ run: `c${index}` })), 20],
  ])('%s are a problem, and the rest stays usable', (_, checks, count) => {
    const read = marker({ checks })
    expect(read.checks).toHaveLength(count)
    expect(read.problems).toEqual([{ code: 'field', field: 'checks', expected: 'checks' }])
  })

  it.each([
    [{ cc_session_id: 's' }, 's'],
    [{ cc_session_id: 's', checks_session: 't' }, 't'],
    [{ cc_session_id: 's', checks_session: 'none' }, undefined],
    [{}, undefined],
  ])('belong to the session that wrote them: %j', (fields, session) => {
    expect(checksSessionOf(marker(fields))).toBe(session)
  })
})

describe('a check', () => {
  it('is a command, which may have a step and a last failure', () => {
    const failed = { exit_code: 1, output: 'red' }
    expect(parseCheck({ run: ' npm test ', step: 'build', failed, more: 1 })).toStrictEqual({
      run: ' npm test ',
      step: 'build',
      failed: { failure: { kind: 'exited', exitCode: 1 }, output: 'red' },
    })
  })

  it.each([{}, { step: '' }, { step: 7 }, { step: null }, { failed: 'yes' }, { failed: {} }])(
    'has neither with %j',
    (fields) => {
      expect(parseCheck({ run: 'npm test', ...fields })).toStrictEqual({ run: 'npm test' })
    },
  )

  it.each([undefined, null, 'npm test', ['npm test'], {}, { run: 5 }, { run: '' }, { run: ' \n' }])(
    'is not %j',
    (value) => {
      expect(parseCheck(value)).toBeUndefined()
    },
  )
})

it('a marker keeps the last 1,000 characters of the output of a failed check', () => {
  const output = `${'x'.repeat(5_000)}${'y'.repeat(999)}\n`
  const kept = `${'y'.repeat(999)}\n`
  expect(failedField({ failure: { kind: 'exited', exitCode: 1 }, output })).toStrictEqual({
    exit_code: 1,
    output: kept,
  })
  expect(parseFailure({ signal: 'SIGKILL', output })).toEqual({
    failure: { kind: 'killed', signal: 'SIGKILL' },
    output: kept,
  })
})

it('a command that stands in several checks is named once', () => {
  expect(commandsOf([{ run: 'a' }, { run: 'b', step: 'one' }, { run: 'a', step: 'two' }])).toEqual(['a', 'b'])
})

describe('two lists of checks', () => {
  const checks = [{ run: 'a' }, { run: 'b', step: 'one' }]

  it('are the same with the same commands for the same steps, whatever failed since', () => {
    const failed = { failure: { kind: 'exited', exitCode: 1 }, output: '' } as const
    expect(
      sameChecks(checks, [
        { run: 'a', failed },
        { run: 'b', step: 'one' },
      ]),
    ).toBe(true)
    expect(sameChecks([], [])).toBe(true)
  })

  it.each([
    ['one less', checks.slice(1)],
    ['another order', checks.toReversed()],
    ['another command', [{ run: 'c' }, { run: 'b', step: 'one' }]],
    ['another step', [{ run: 'a' }, { run: 'b', step: 'two' }]],
    ['a step less', [{ run: 'a' }, { run: 'b' }]],
  ])('differ with %s', (_, others) => {
    expect(sameChecks(checks, others)).toBe(false)
  })
})
