import { describe, expect, it } from 'vitest'
import { eventTimeMs, parsePayload } from '../../../src/hosts/all-hosts.ts'
import { EMPTY_PAYLOAD, mayGetWork } from '../../../src/hosts/payload.ts'
import { mainStop, payload, subagentStop, thrownBy } from '../builders.ts'

const LONG_ID = 'x'.repeat(257)
const WRONG_TEXTS = [5, 0, true, false, null, [], {}, ['s1'], '']

describe('an empty stdin is a SubagentStop without further information', () => {
  it.each(['', ' ', '\n', '\r\n\t', '\ufeff', '\ufeff\n'])('%j', (text) => {
    expect(parsePayload(text, 0)).toEqual({ event: 'SubagentStop', wakeUps: 0, shells: [] })
  })
})

describe('any other text is refused', () => {
  it.each(['{', 'SubagentStop', "{'a': 1}", '{}{}', '\u0000', '{"session_id": "s1", }', '['.repeat(20_000)])(
    '%.20j is not JSON',
    (text) => {
      const refused = { code: 'payload-not-json', args: { detail: expect.any(String) } }
      expect(thrownBy(() => parsePayload(text, 0))).toMatchObject(refused)
    },
  )

  it.each(['[]', '[{"session_id": "s1"}]', 'null', '5', '"Stop"', 'true'])('%s is not an object', (text) => {
    expect(thrownBy(() => parsePayload(text, 0))).toMatchObject({ code: 'payload-not-object' })
  })
})

describe('the whole payload of a sub-agent', () => {
  it('is read completely', () => {
    const texts = { cwd: '/home/me/a b', transcript_path: '/t.jsonl', turn_id: 't1', last_assistant_message: 'done' }
    const types = { agent_type: 'worker', parent_agent_id: 's1', stop_hook_active: true, background_tasks: [] }
    expect(subagentStop({ ...texts, ...types })).toEqual({
      ...{ event: 'SubagentStop', session: 's1', agent: 'a1', agentType: 'worker', parentAgent: 's1' },
      ...{ cwd: '/home/me/a b', transcript: '/t.jsonl', turn: 't1', prompt: 't1' },
      ...{ followsBlock: true, wakeUps: 0, shells: [], lastMessage: 'done' },
    })
  })

  it('has the time of its event, unless that is in the future or ten minutes ago', () => {
    const sentMs = (ms: number) => parsePayload(`{"timestamp":"${new Date(ms).toISOString()}"}`, 600_000).sentMs
    expect([0, 1, 600_000, 600_001].map(sentMs)).toEqual([undefined, 1, 600_000, undefined])
  })

  it('of a failed command is that of a command, with its error as the output', () => {
    const error = 'Exit code 1'
    const failed = { hook_event_name: 'PostToolUseFailure', tool_name: 'Bash', tool_input: { command: 'x' }, error }
    expect(payload(failed)).toMatchObject({ event: 'PostToolUse', output: error })
  })

  it('of an empty object is that of an empty stdin', () => expect(payload({})).toEqual(EMPTY_PAYLOAD))

  it('repeats the time of a stop on Copilot CLI alone', () => {
    const timeFor = (env: Record<string, string>) => eventTimeMs({ ...payload({}), sentMs: 5 }, env)
    expect([{ COPILOT_PROJECT_DIR: '/p' }, {}].map(timeFor)).toEqual([5, undefined])
  })

  it('is read the same with a byte-order mark, CRLF and blanks around it', () => {
    expect(parsePayload('\ufeff\r\n{\r\n"session_id": "s1"}\r\n', 0)).toEqual(payload({ session_id: 's1' }))
  })

  it('is read the same with 20,000 levels of nesting in a field', () => {
    const deep = `${'{"a":['.repeat(10_000)}${']}'.repeat(10_000)}`
    expect(parsePayload(`{"session_id":"s1","agent_id":"a1","tool_response":${deep},"x":${deep}}`, 0)).toEqual(
      payload({ session_id: 's1', agent_id: 'a1' }),
    )
  })
})

describe('the return of a sub-agent', () => {
  const returned = (response: unknown, event = 'PostToolUse') =>
    payload({ hook_event_name: event, tool_name: 'Agent', tool_response: response }).returned

  it.each([
    ['Done.', 'Done.'],
    [[{ type: 'text', text: 'One.' }, { type: 'image' }, { type: 'text', text: 'Two.' }], 'One.\n\nTwo.'],
    [['One.'], 'One.'],
    [[], ''],
  ])('has its last message: %j', (content, message) => {
    const own = { agent: 'a1', message }
    expect(returned({ agentId: 'a1', agentType: 'worker', content })).toEqual({ ...own, agentType: 'worker' })
    expect(returned({ agentId: 'a1', content })).toStrictEqual(own)
    expect(returned({ agentId: 'a1', result: content })).toStrictEqual(own)
  })

  it.each([
    ['that was started in the background', { status: 'async_launched', agentId: 'a1' }],
    ['without an id', { content: 'x' }],
    ['with an id that is too long', { agentId: 'a'.repeat(257), content: 'x' }],
    ['with an id that is not a text', { agentId: 7, content: 'x' }],
    ['with content of another shape', { agentId: 'a1', content: { text: 'x' } }],
    ['in a text', 'agentId: a1'],
    ['in a list', [{ agentId: 'a1', content: 'x' }]],
    ['in nothing', null],
  ])('is not that of one %s', (_what, response) => expect(returned(response)).toBeUndefined())

  it('has the report that was handed back, too', () => {
    const content = [{ type: 'text', text: 'See the message.' }]
    const handed = returned({ agentId: 'a1', content, handbackReport: { text: 'The report.', toolUseId: 't' } })
    expect(handed).toStrictEqual({ agent: 'a1', message: 'See the message.\nThe report.' })
    expect(returned({ agentId: 'a1', content, handbackReport: 7 })?.message).toBe('See the message.\n')
  })

  it('is only that of an event after a tool', () => {
    expect(returned({ agentId: 'a1', content: 'x' }, 'SubagentStop')).toBeUndefined()
  })
})

describe('an omitted field of a payload is unknown, not wrong', () => {
  it.each([
    ['session_id', 'session'],
    ['agent_id', 'agent'],
    ['parent_agent_id', 'parentAgent'],
    ['cwd', 'cwd'],
    ['transcript_path', 'transcript'],
    ['turn_id', 'turn'],
    ['prompt_id', 'prompt'],
    ['calling_session_id', 'caller'],
    ['client_type', 'client'],
    ['last_assistant_message', 'lastMessage'],
  ] as const)('%s: omitted, empty or of another type', (field, property) => {
    expect(payload({ [field]: 'value' })[property]).toBe('value')
    for (const value of WRONG_TEXTS) expect(payload({ [field]: value })).toStrictEqual(EMPTY_PAYLOAD)
  })

  it('prompt_id names the prompt, otherwise turn_id does', () => {
    expect(payload({ prompt_id: 'p1', turn_id: 't1' })).toMatchObject({ prompt: 'p1', turn: 't1' })
    expect(payload({ prompt_id: '', turn_id: 't1' })).toMatchObject({ prompt: 't1', turn: 't1' })
  })

  it.each([
    ['duration_ms', 'durationMs', [0, 1.5, 3_600_000], [-1, '5', true, null, {}]],
    ['stop_hook_active', 'followsBlock', [true, false], ['true', 1, null, {}]],
  ] as const)('%s: omitted or of another type', (field, property, values, others) => {
    for (const value of values) expect(payload({ [field]: value })[property]).toBe(value)
    for (const value of others) expect(payload({ [field]: value })).toStrictEqual(EMPTY_PAYLOAD)
  })

  it.each([
    [{ hook_event_name: 'SessionStart', source: 'compact' }, true, undefined],
    [{ hook_event_name: 'SessionStart', source: 'startup' }, undefined, undefined],
    [{ hook_event_name: 'Stop', source: 'compact', permission_mode: 'default' }, undefined, undefined],
    [{ hook_event_name: 'Stop', permission_mode: 'spec' }, undefined, true],
  ])('%j: compacted %s, planning %s', (fields, isCompacted, isPlanning) => {
    expect([payload(fields).isCompacted, payload(fields).isPlanning]).toEqual([isCompacted, isPlanning])
  })

  it.each([
    [{}, true],
    [{ permission_mode: 'default' }, true],
    [{ permission_mode: 'plan' }, false],
    [{ background_tasks: [{ id: 'a', type: 'subagent', status: 'running' }] }, false],
    [{ hook_event_name: 'SubagentStop' }, false],
  ])('a stop with %j may get work: %s', (fields, mayGet) => {
    expect(mayGetWork(payload({ hook_event_name: 'Stop', ...fields }))).toBe(mayGet)
  })

  it('agent_type: left out or of another type; an empty one is kept, for an agent of the host’s own', () => {
    expect(payload({ agent_type: 'worker' }).agentType).toBe('worker')
    expect(payload({ agent_type: '' }).agentType).toBe('')
    for (const value of WRONG_TEXTS) {
      if (value !== '') expect(payload({ agent_type: value })).toStrictEqual(EMPTY_PAYLOAD)
    }
  })

  it.each(['session_id', 'agent_id', 'agent_type', 'parent_agent_id', 'turn_id', 'prompt_id', 'calling_session_id'])(
    '%s: longer than the ids of all hosts',
    (field) => {
      expect(payload({ [field]: LONG_ID })).toEqual(EMPTY_PAYLOAD)
      expect(payload({ [field]: LONG_ID.slice(1) })).not.toEqual(EMPTY_PAYLOAD)
    },
  )

  it.each(['/a\ufeffb', `/${LONG_ID}`])('a path may be long and contain a byte-order mark: %.9j', (cwd) => {
    expect(payload({ cwd }).cwd).toBe(cwd)
  })

  it.each(WRONG_TEXTS)('without hook_event_name (%j) it is a SubagentStop', (hook_event_name) => {
    expect(payload({ hook_event_name, session_id: 's1' })).toEqual(subagentStop({ agent_id: undefined }))
  })

  it.each(['constructor', '__proto__', 'PreToolUse', 'stop'])('an event of another name (%s) keeps it', (name) => {
    expect(payload({ hook_event_name: name }).event).toBe(name)
  })

  it('inherited properties are never used', () => {
    expect(parsePayload('{"__proto__":{"session_id":"s1","agent_id":"a1","hook_event_name":"Stop"}}', 0)).toEqual(
      EMPTY_PAYLOAD,
    )
    expect(parsePayload('{"tool_input":{"__proto__":{"command":"x"}}}', 0)).toEqual(EMPTY_PAYLOAD)
    expect(parsePayload('{"constructor":{"x":1},"toString":5,"hasOwnProperty":0}', 0)).toEqual(EMPTY_PAYLOAD)
  })
})

describe('the agent of an event', () => {
  const of = (hook_event_name: string, fields: object = {}) => ({ hook_event_name, session_id: 's1', ...fields })

  // The payloads are read in the test, so that a failure is that of its row.
  it.each([
    ['a sub-agent by its id', of('SubagentStop', { agent_id: 'a1' }), 'a1'],
    ['a sub-agent without an id (older clients) is unknown', of('SubagentStop'), undefined],
    ['a sub-agent whose id is the session keeps it', of('SubagentStop', { agent_id: 's1' }), 's1'],
    ['Stop is main', of('Stop'), 'main'],
    ['Stop with agent_id === session_id is main (Codex)', of('Stop', { agent_id: 's1' }), 'main'],
    ['Stop with another agent id is that agent', of('Stop', { agent_id: 'a1' }), 'a1'],
    ['Stop without a session is main', of('Stop', { session_id: undefined }), 'main'],
    ['a tool call with an agent id is that agent', of('PostToolUse', { agent_id: 'a1' }), 'a1'],
    ['a tool call without one is main', of('PostToolUse'), 'main'],
    ['a tool call in the root conversation of Codex is main', of('PostToolUse', { agent_id: 's1' }), 'main'],
    ['a session that starts is main', of('SessionStart'), 'main'],
  ])('%s', (_, fields, expected) => expect(payload(fields).agent).toBe(expected))
})

describe('background_tasks', () => {
  const running = (background_tasks: unknown): number => mainStop({ background_tasks }).wakeUps

  it.each([
    ['running', 1],
    ['pending', 1],
    ['completed', 0],
    ['failed', 0],
    ['killed', 0],
  ])('a sub-agent that is %s counts %i', (status, expected) => {
    expect(running([{ id: 'b1', type: 'subagent', status }])).toBe(expected)
    expect(running([{ id: 'b1', type: 'shell', status }])).toBe(0)
  })

  it.each([
    ...['agent', 'local_agent', 'workflow', 'MCP task', 'mcp_task', 'mcptask', 'cloud session', 'cloudsession'],
  ])('a running %s counts', (type) => expect(running([{ type, status: 'running' }])).toBe(1))

  it.each([
    ...['the mcp task', 'MCP task log', 'a cloud session', 'cloud sessions', 'workflows', 'no workflow', 'teammate'],
    ...['dream', 'local_bash', 'Shell', 'command', 'monitor'],
  ])('a running %s does not count', (type) => expect(running([{ type, status: 'running' }])).toBe(0))

  it('a shell, a monitor or a teammate is named by its description, its command or its id, and may have none', () => {
    const shell = { type: 'shell', status: 'running' }
    const whole = { ...shell, id: 'b1', description: 'a build', command: 'make' }
    const [monitor, mate] = ['monitor', 'teammate'].map((type) => ({ ...shell, type }))
    const others = [shell, { ...shell, id: 7 }, { ...whole, status: 'completed' }, { ...whole, type: 'dream' }]
    const background_tasks = [whole, { ...monitor, command: 'make' }, { ...mate, id: 'b3' }, ...others]
    const named = { shells: ['a build', 'make', 'b3', '', ''], shellIds: ['b1', 'b3'] }
    expect(mainStop({ background_tasks })).toMatchObject(named)
    expect(mainStop({ background_tasks: [shell] })).not.toHaveProperty('shellIds')
  })

  it('a task without a type counts, because not every host gives one', () => {
    expect(running([{ status: 'running' }, { status: 'running', type: null }])).toBe(2)
    expect(running([{ status: 'running', type: 5 }])).toBe(0)
  })

  it.each([
    ['omitted', undefined],
    ['null', null],
    ['an object', { type: 'subagent', status: 'running' }],
    ['a string', 'running'],
    ['a number', 3],
    ['a list of anything', [null, 5, 'running', [], ['running'], {}, { type: 'subagent' }, { status: true }]],
  ])('no sub-agent is running with tasks of this shape: %s', (_, tasks) => expect(running(tasks)).toBe(0))
})

describe('the call of a tool that ends the turn', () => {
  const call = (tool_name: unknown, more = {}) => payload({ hook_event_name: 'PreToolUse', tool_name, ...more })

  it.each(['StructuredOutput', 'SubagentHandback', 'structured_output', 'task_complete'])('%s is a stop', (tool) => {
    expect(call(tool)).toMatchObject({ event: 'Stop', agent: 'main', endingTool: tool })
    expect(call(tool, { agent_id: 'a1' })).toMatchObject({ event: 'SubagentStop', agent: 'a1', endingTool: tool })
  })

  it.each([
    ['another tool', { tool_name: 'Bash' }],
    ['a tool of another name', { tool_name: 'StructuredOutputs' }],
    ['no tool', { tool_name: undefined }],
    ['a name that is not text', { tool_name: ['StructuredOutput'] }],
    ['its end', { hook_event_name: 'PostToolUse' }],
  ])('%s is not', (_, fields) => {
    const other = call('StructuredOutput', fields)
    expect(other.event).toBe('hook_event_name' in fields ? 'PostToolUse' : 'PreToolUse')
    expect(other).not.toHaveProperty('endingTool')
  })

  it('has a last message only if it hands a report back', () => {
    const tool_input = { message: 'The report.' }
    expect(call('SubagentHandback', { agent_id: 'a1', tool_input }).lastMessage).toBe('The report.')
    for (const other of [{}, { tool_input: 'x' }, { tool_input: {} }]) {
      expect(call('SubagentHandback', { agent_id: 'a1', ...other })).not.toHaveProperty('lastMessage')
    }
    expect(call('StructuredOutput', { agent_id: 'a1', tool_input })).not.toHaveProperty('lastMessage')
  })
})

describe('session_crons', () => {
  const scheduled = (session_crons: unknown, more = {}): number => mainStop({ session_crons, ...more }).wakeUps
  const once = { id: 'd66877c0', schedule: '41 13 * * *', recurring: false, prompt: 'check' }

  it('each wake-up that comes once counts, beside the tasks in the background', () => {
    expect(scheduled([once])).toBe(1)
    expect(scheduled([once, { ...once, recurring: true }, once])).toBe(2)
    expect(scheduled([once], { background_tasks: [{ type: 'subagent', status: 'running' }] })).toBe(2)
  })

  it.each([
    ['at any date', '41 13 * * *', 1],
    ['tomorrow, named by its weekday', '41 13 * * 5', 1],
    ['on a Sunday, days later', '41 13 * * 7', 0],
    ['at a time that is not told', undefined, 1],
    ['today', '41 13 31 12 *', 1],
    ['tomorrow, which is in the next year', '41 13 1 1 *', 1],
    ['today, in any month', '41 13 31 * *', 1],
    ['yesterday', '41 13 30 12 *', 0],
    ['the day after tomorrow', '41 13 2 1 *', 0],
    ['on the day of the month, months later', '41 13 31 3 *', 0],
    ['at dates of another shape', '41 13 */2 1-3 *', 0],
  ])('one that comes %s (%s) counts: %i', (_, schedule, count) => {
    const nowMs = new Date(2026, 11, 31, 12).getTime()
    const fields = { hook_event_name: 'Stop', session_crons: [{ ...once, schedule }] }
    expect(parsePayload(JSON.stringify(fields), nowMs).wakeUps).toBe(count)
  })

  it('Qwen Code calls them crons, and may have switched one off', () => {
    const on = { ...once, enabled: true }
    const crons = [on, { ...once, enabled: false }, { ...on, recurring: true }]
    expect(mainStop({ crons }).wakeUps).toBe(1)
    expect(mainStop({ crons: [null, once] }).wakeUps).toBe(1)
    expect(mainStop({ crons: once }).wakeUps).toBe(0)
    expect(mainStop({ crons, session_crons: [] }).wakeUps).toBe(0)
  })

  it.each([
    ['recurring', [{ ...once, recurring: true }]],
    ['of an unknown kind', [{ id: 'd66877c0' }, { ...once, recurring: 'false' }, { ...once, recurring: null }]],
    ['none', []],
    ['omitted', undefined],
    ['an object', once],
    ['a list of anything', [null, false, 'once', [], [once]]],
  ])('does not count if they are %s', (_, crons) => expect(scheduled(crons)).toBe(0))
})

describe('a tool call', () => {
  const call = (tool_input: unknown, tool_response?: unknown) =>
    payload({ hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input, tool_response })

  it.each([
    ['stdout and stderr', { stdout: 'created pf_1', stderr: 'warning', interrupted: false }, 'created pf_1\nwarning\n'],
    ['a string', 'created pf_1', 'created pf_1'],
    ['a list of strings', ['a', 'b'], 'a\nb'],
    ['a list of parts', [{ type: 'text', text: 'a' }, { type: 'image', data: 'x' }, 'b'], 'a\n\nb'],
    ['parts in an object', { output: { text: 'a' }, exit: 0 }, 'a\n'],
    ['nothing textual', { a: 1, b: null, c: [1], d: { text: 5 } }, '\n\n\n'],
    ['an empty list', [], ''],
    ['a number', 5, ''],
    ['null', null, ''],
    ['omitted', undefined, ''],
  ])('has the output of this shape: %s', (_, response, expected) => {
    const command = 'postflight create 7 x'
    expect(call({ command }, response)).toMatchObject({ command, output: expected })
  })

  it.each([undefined, null, 5, 'ls', [], {}, { command: 5 }, { command: '' }, { file_path: '/x' }, ['ls']])(
    'with the input %j has neither a command nor an output',
    (input) => {
      const read = call(input, { stdout: 'pf_abcdefgh1234' })
      expect('command' in read || 'output' in read).toBe(false)
    },
  )
})
