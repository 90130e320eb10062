import fc from 'fast-check'

/** Random input from outside, with halves of surrogate pairs and control characters. */

/** Checks a law: `holds()(values, moreValues, (value, more) => …)`; `holds(1000)` checks it for a thousand inputs. */
export function holds(numRuns?: number) {
  return <Ts extends [unknown, ...unknown[]]>(
    ...law: [...arbitraries: { [K in keyof Ts]: fc.Arbitrary<Ts[K]> }, check: (...values: Ts) => void]
  ): void => fc.assert(fc.property<Ts>(...law), numRuns === undefined ? {} : { numRuns })
}

/** Such a value, or undefined. */
export const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined })

export const anyUnits: fc.Arbitrary<string> = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
  .map((units) => String.fromCharCode(...units))

/** Text with difficult characters: quotes, escapes, controls, halves of pairs, emoji. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom('"', "'", '\\', '\n', '\r\n', '\t', '\u001b[31m', '\u0000', '\u009b', '\u2028', '\u202e', '😀'),
      fc.constantFrom('\ud83d', '\ude00', '$(id)', '`', '%s', '\ufeff', '{', '}', '"}', ' '),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

/** Such text up to the maximum length of a marker, and longer. */
export const longText: fc.Arbitrary<string> = fc
  .tuple(hostileText, fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 70_000 })))
  .map(([text, length]) => (length === 1 || text === '' ? text : text.repeat(length).slice(0, length)))

/** JSON values, also with the names of inherited properties as keys. */
const inheritedName = fc.constantFrom('__proto__', 'constructor', 'toString')
export const anyJson: fc.Arbitrary<unknown> = fc.jsonValue({ depthSize: 'small' }).chain((value) => {
  const asField = inheritedName.map((key) => JSON.parse(`{"${key}":${JSON.stringify(value)}}`))
  return fc.oneof(fc.constant(value), asField)
})

/** An object of known fields, each right, wrong or missing. */
export function fieldsOf(
  right: Readonly<Record<string, fc.Arbitrary<unknown>>>,
): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.fromEntries(
    Object.entries(right).map(([name, value]) => [name, fc.oneof({ weight: 4, arbitrary: value }, anyJson)]),
  )
  return fc.record(fields, { requiredKeys: [] })
}

const SESSIONS = ['s1', 's1', 's2', '']
const PROMPTS = ['p1', 'p1', 'p2']
const AGENTS = ['a1', 'a2', 's1', 'main', '']

/** The fields that decide before all others. */
const rarely = fc.constantFrom(false, false, false, false, true)

const JANUARY = { min: new Date('2026-01-15T00:00:00Z'), max: new Date('2026-01-20T00:00:00Z') }
const someDate = fc.date({ ...JANUARY, noInvalidDate: true })

/** The fields of a marker. They have few values, so that they often match those of a payload. */
export const markerFields: fc.Arbitrary<Record<string, unknown>> = fieldsOf({
  id: fc.constantFrom('pf_abcdefgh1234', 'sess_1'),
  session_id: hostileText,
  skill: hostileText,
  task_number: fc.integer(),
  operation: hostileText,
  reason: hostileText,
  created: fc.oneof(
    someDate.map((date) => date.toISOString()),
    hostileText,
  ),
  stop_hook_active: rarely,
  cc_session_id: fc.constantFrom(...SESSIONS),
  agent_id: fc.constantFrom(...AGENTS),
  agent_type: fc.constantFrom('worker', 'explore', ''),
  steps: fc.array(fc.oneof(hostileText, fc.record({ name: hostileText, done: fc.boolean() }), anyJson), {
    maxLength: 12,
  }),
  wait: fc.record(
    {
      for: hostileText,
      count: fc.constantFrom(1, 2, 10, 11),
      prompt_id: fc.constantFrom(...PROMPTS),
      last_prompt_id: fc.constantFrom(...PROMPTS),
      stopped_ms: fc.integer({ min: 0, max: 2_000_000_000_000 }),
    },
    { requiredKeys: ['for', 'count'] },
  ),
  waits: fc.constantFrom(0, 1, 10),
  owner_from: fc.constant('environment'),
  workflow: rarely,
  unknown: fc.jsonValue({ depthSize: 'small' }),
})

export const payloadFields: fc.Arbitrary<Record<string, unknown>> = fieldsOf({
  hook_event_name: fc.constantFrom('SubagentStop', 'Stop', 'Stop', 'PostToolUse', 'Other'),
  session_id: fc.constantFrom(...SESSIONS),
  agent_id: fc.constantFrom(...AGENTS),
  agent_type: fc.constantFrom('worker', 'explore', ''),
  parent_agent_id: fc.constantFrom('a1', ''),
  prompt_id: fc.constantFrom(...PROMPTS),
  cwd: hostileText,
  stop_hook_active: fc.boolean(),
  background_tasks: fc.array(
    fc.oneof(
      fc.record({
        type: fc.constantFrom('subagent', 'workflow', 'shell', 'monitor', 'other'),
        status: fc.constantFrom('running', 'pending', 'completed'),
      }),
      anyJson,
    ),
    { maxLength: 4 },
  ),
  session_crons: fc.array(fc.oneof(fc.record({ recurring: fc.boolean() }), anyJson), { maxLength: 2 }),
  duration_ms: fc.nat(),
  tool_input: fc.record({ command: hostileText }),
  tool_response: fc.oneof(
    hostileText,
    fc.record({ stdout: hostileText, stderr: hostileText }),
    fc.array(fc.record({ text: hostileText })),
  ),
})
