import { describe, expect, it } from 'vitest'
import { MAIN_AGENT } from '../../../src/hosts/payload.ts'
import { known } from '../../../src/kernel/values.ts'
import {
  checksSessionOf,
  commandsOf,
  DEFAULT_REASON,
  type FieldKind,
  failedField,
  formatMarker,
  MARKER_BYTES,
  type Marker,
  parseCheck,
  parseFailure,
  parseMarker,
  remainingSteps,
  sameChecks,
  withFields,
} from '../../../src/marker/marker.ts'
import { isMarkerId } from '../../../src/project/task-folder.ts'
import { marker, PATTERN_MARKER, PATTERN_MARKER_QUOTED, thrownBy } from '../builders.ts'

/** The content of a marker that could not be understood. */
const UNKNOWN = { fields: undefined, bypassed: false, steps: [], checks: [] }
const TOO_DEEP = '['.repeat(20_000)

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
    const problems = [{ code: 'unfilled', variable: '$session_id' }]
    expect(parseMarker(PATTERN_MARKER_QUOTED)).toEqual({ ...UNKNOWN, problems })
  })

  it.each(['session_id', 'cc_session_id', 'agent_id', 'agent_type', 'created', 'skill', 'operation'])(
    'with an unfilled variable in %s names it',
    (field) => {
      for (const variable of ['$name', '${' + 'name}']) {
        expect(marker({ [field]: `x_${variable}` }).problems).toContainEqual({ code: 'unfilled', variable })
      }
    },
  )

  it('may speak of variables in its reason, and of money', () => {
    expect(marker({ reason: 'set $HOME', operation: 'costs $5' }).problems).toEqual([])
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
    ['lists without an end', TOO_DEEP, 'not-json'],
    ['an array', '[{"reason": "x"}]', 'not-object'],
    ['null', 'null', 'not-object'],
    ['a number', '259', 'not-object'],
    ['a string', '"sess_1"', 'not-object'],
    ['true', 'true', 'not-object'],
  ])('%s', (_, text, code) => {
    expect(parseMarker(text)).toEqual({ ...UNKNOWN, problems: [expect.objectContaining({ code })] })
  })

  it('a parse error has the message of the parser', () => {
    expect(parseMarker('{"a" 1}').problems).toEqual([{ code: 'not-json', detail: expect.stringMatching(/JSON/) }])
  })

  it('a marker that is too large is not parsed', () => {
    const fitting = `{"reason":"${'x'.repeat(MARKER_BYTES - 13)}"}`
    expect(fitting).toHaveLength(MARKER_BYTES)
    expect(parseMarker(fitting).problems).toEqual([])
    expect(parseMarker(`${fitting} `)).toEqual({ ...UNKNOWN, problems: [{ code: 'too-large' }] })
  })

  it('deep nesting is read', () => {
    expect(parseMarker(`{"x":${TOO_DEEP}${']'.repeat(20_000)},"reason":"r"}`)).toMatchObject({ reason: 'r' })
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

  /** Expects this of the marker, and nothing else; `kind` is that of a problem with its first field. */
  function expectRead(fields: Readonly<Record<string, unknown>>, read: Partial<Marker>, kind?: FieldKind): void {
    const problems = kind === undefined ? [] : [{ code: 'field', field: Object.keys(fields)[0], expected: kind }]
    expect(marker(fields)).toEqual({ ...UNKNOWN, fields, problems, ...read })
  }

  it.each(STRINGS)('%s is read as a string', (field, property) => {
    expectRead({ [field]: ' some text ' }, { [property]: ' some text ' })
  })

  it.each(STRINGS)('%s of another type is unknown, and a problem', (field) => {
    for (const value of [5, true, false, 0, [], {}, ['s1']]) expectRead({ [field]: value, other: 1 }, {}, 'text')
  })

  it.each(STRINGS)('an empty or null %s is unknown, but not a problem', (field) => {
    for (const value of ['', null]) expectRead({ [field]: value }, {})
  })

  it.each<[Record<string, unknown>, Partial<Marker>, FieldKind?]>([
    [{}, {}],
    [{ task_number: 259 }, { taskNumber: 259 }],
    [{ task_number: 0 }, { taskNumber: 0 }],
    [{ task_number: 1.5 }, { taskNumber: 1.5 }],
    [{ task_number: null }, {}],
    [{ task_number: '259' }, {}, 'number'],
    [{ task_number: '' }, {}, 'number'],
    [{ task_number: [259] }, {}, 'number'],
    [{ created: '2026-01-18T10:00:00Z' }, { createdMs: Date.UTC(2026, 0, 18, 10) }],
    [{ created: '' }, {}],
    [{ created: null }, {}],
    [{ created: 'yesterday' }, {}, 'time'],
    [{ created: 1_768_730_400 }, {}, 'text'],
    [{ stop_hook_active: true }, { bypassed: true }],
    [{ stop_hook_active: false }, {}],
    [{ stop_hook_active: null }, {}],
    [{ stop_hook_active: 'true' }, {}, 'flag'],
    [{ stop_hook_active: 1 }, {}, 'flag'],
    [{ stop_hook_active: {} }, {}, 'flag'],
    [{ wait: { for: 'go', count: 2, prompt_id: 'p' } }, { wait: { for: 'go', count: 2, promptId: 'p' } }],
    [{ waits: 1 }, { waits: 1 }],
    [{ wait: null, waits: null }, {}],
    [{ wait: 'go-ahead' }, {}, 'wait'],
    [{ wait: { for: '', count: 1 } }, {}, 'wait'],
    [{ waits: 0 }, { waits: 0 }],
    [{ waits: -1 }, {}, 'count'],
    [{ waits: '2' }, {}, 'count'],
    [{ steps: null }, {}],
    [{ steps: [] }, {}],
    [{ steps: 'git commit' }, {}, 'list'],
    [{ steps: { name: 'a' } }, {}, 'list'],
    [{ steps: true }, {}, 'list'],
    [{ checks: 'npm test' }, {}, 'checks'],
    [{ checks: [{ run: 'a' }, {}, 'x', { run: ' ' }, null] }, { checks: [{ run: 'a' }] }, 'checks'],
  ])('%j is read as %j (problem: %s)', expectRead)

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
    expect(parseMarker(text)).toMatchObject({ bypassed: false, reason: 'mine', problems: [] })
    const only = parseMarker('{"__proto__":{"reason":"r","cc_session_id":"s","stop_hook_active":true}}')
    expect(only).toMatchObject({ bypassed: false, problems: [] })
    expect([only.reason, only.hostSession, ({} as { reason?: string }).reason]).toEqual(Array(3).fill(undefined))
  })

  it('are kept on a rewrite', () => {
    const rewritten = formatMarker(withFields(parseMarker(text).fields ?? {}, { agent_id: 'a1' }))
    expect(JSON.stringify(JSON.parse(rewritten))).toBe(text.replace(/\}$/, ',"agent_id":"a1"}'))
  })
})

describe('steps', () => {
  it.each([
    ['objects, done only if true', ['yes', 1, false, true].map((done) => ({ name: 'a', done })), 'aaaa✓'],
    ['bare names', ['a', 'b'], 'ab'],
    ['both', ['a', { name: 'b', done: true, note: 'x' }, { name: 'c' }], 'ab✓c'],
    ['without a name', ['', { name: '' }, { name: '', done: true }], '✓'],
  ])('%s', (_, steps, expected) => {
    const read = marker({ steps })
    expect(read.steps.map(({ name, done }) => name + (done ? '✓' : '')).join('')).toBe(expected)
    expect([read.steps.length, read.problems]).toEqual([steps.length, []])
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
  it('removes a field with a change to undefined, and does not change its arguments', () => {
    const fields = Object.freeze({ a: 1, b: 2, c: 3 })
    expect(withFields(fields, { a: undefined, c: 4, d: undefined })).toStrictEqual({ b: 2, c: 4 })
  })

  it('writes JSON for people, and one line if only that fits, to the byte', () => {
    const fitting = { a: 'x'.repeat(MARKER_BYTES - formatMarker({ a: '' }).length) }
    expect(formatMarker(fitting)).toBe(`{\n  "a": "${fitting.a}"\n}\n`)
    const longer = { a: `${fitting.a}x` }
    expect(formatMarker(longer)).toBe(`{"a":"${longer.a}"}\n`)
  })

  it('refuses fields that could not be read back: too many bytes, or nested too deeply', () => {
    const longest = { a: 'x'.repeat(MARKER_BYTES - '{"a":""}\n'.length) }
    expect(formatMarker(longest)).toHaveLength(MARKER_BYTES)
    const deep = parseMarker(`{"x":${TOO_DEEP}${']'.repeat(20_000)}}`).fields
    const refused = { code: 'marker-too-large', args: { limit: MARKER_BYTES } }
    for (const fields of [{ a: `${longest.a}x` }, { a: longest.a.replace('x', 'ä') }, deep]) {
      expect(thrownBy(() => formatMarker(fields ?? {}))).toMatchObject(refused)
    }
  })

  it('leaves out undefined values, and no others', () => {
    expect(known({ a: undefined, b: null, c: 0, d: '', e: false })).toStrictEqual({ b: null, c: 0, d: '', e: false })
  })
})

describe('the ids of markers', () => {
  it.each(['pf_abcdefgh1234', 'pf_ABCDEFGHIJKL', 'pf_000000000000'])('include %s', (id) => {
    expect(isMarkerId(id)).toBe(true)
  })

  it.each([
    ...'pf_abcdefgh123 pf_abcdefgh12345 pf_abcdefgh123/ pf_../../../etc PF_abcdefgh1234 xpf_abcdefgh1234'.split(' '),
    ...['pf_abcdefgh1234\n', 'pf_abcdefgh123ä', '', undefined, null, 5, ['pf_abcdefgh1234']],
  ])('do not include %j', (id) => {
    expect(isMarkerId(id)).toBe(false)
  })
})

it('the words that other programs rely on', () => {
  expect(DEFAULT_REASON).toBe('Postflight operations pending')
  expect(MAIN_AGENT).toBe('main')
})

describe('checks', () => {
  it('are twenty at most: more are a problem, and the rest stays usable', () => {
    const checks = Array.from({ length: 21 }, (_, index) => ({ run: `c${index}` }))
    const twenty = checks.slice(0, 20)
    expect(marker({ checks: twenty })).toMatchObject({ problems: [], checks: twenty })
    const problems = [{ code: 'field', field: 'checks', expected: 'checks' }]
    expect(marker({ checks })).toMatchObject({ problems, checks: twenty })
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
    const failed = { failure: { kind: 'exited', exitCode: 1 }, output: 'red' }
    expect(
      parseCheck({ run: ' npm test ', step: 'build', failed: { exit_code: 1, output: 'red' }, more: 1 }),
    ).toStrictEqual({ run: ' npm test ', step: 'build', failed })
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
  const exited = { kind: 'exited', exitCode: 1 } as const
  expect(failedField({ failure: exited, output })).toStrictEqual({ exit_code: 1, output: kept })
  expect(parseFailure({ exit_code: 1, output })).toEqual({ failure: exited, output: kept })
})

it('a command that stands in several checks is named once', () => {
  expect(commandsOf([{ run: 'a' }, { run: 'b', step: 'one' }, { run: 'a', step: 'two' }])).toEqual(['a', 'b'])
})

describe('two lists of checks', () => {
  const one = { run: 'a' }
  const other = { run: 'b', step: 'one' }
  const failed = { failure: { kind: 'exited', exitCode: 1 }, output: '' } as const

  it.each([
    ['the same with the same commands for the same steps, whatever failed since', [{ ...one, failed }, other], true],
    ['different with one less', [other], false],
    ['different in another order', [other, one], false],
    ['different with another command', [{ run: 'c' }, other], false],
    ['different with another step', [one, { run: 'b', step: 'two' }], false],
    ['different with a step less', [one, { run: 'b' }], false],
  ])('are %s', (_, others, expected) => {
    expect(sameChecks([one, other], others)).toBe(expected)
  })
})
