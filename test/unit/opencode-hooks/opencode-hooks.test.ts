import { describe, expect, it, vi } from 'vitest'
import type { Hooks, Message } from '../../../src/hosts/opencode/api.ts'
import { ownText } from '../../../src/hosts/opencode/conversation.ts'
import { delegationFailureIn, delegationFix } from '../../../src/opencode-hooks/delegate-task-retry.ts'
import { composeHooks, RefusedCall } from '../../../src/opencode-hooks/factory.ts'
import {
  createChatHeadersHook,
  createDelegateTaskRetryHook,
  createForegroundFallbackHook,
  createJsonErrorRecoveryHook,
  createPostReadNudgeHook,
} from '../../../src/opencode-hooks/index.ts'
import { jsonFaultIn } from '../../../src/opencode-hooks/json-error-recovery.ts'
import { rateLimitTest } from '../../../src/opencode-hooks/model-switch.ts'
import { locationInRun } from '../../../src/opencode-hooks/phase-reminder.ts'
import { begin } from '../run/builders.ts'

const directory = '/nowhere'
const CALL = { sessionID: 's', callID: 'c' }

describe('the hooks of several parts', () => {
  it('act one after another in their order, and events reach all of them at once', async () => {
    const said: string[] = []
    const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
    const part = (name: string, pauseMs: number): Hooks => ({
      async event() {
        said.push(`${name} began`)
        await pause(pauseMs)
        said.push(`${name} ended`)
      },
      'chat.message': () => pause(pauseMs).then(() => void said.push(name)),
    })
    const hooks = composeHooks([part('one', 20), {}, part('two', 1)])
    await hooks.event?.({ event: { type: 'x' } })
    await hooks['chat.message']?.({}, {} as never)
    expect(said).toEqual(['one began', 'two began', 'two ended', 'one ended', 'one', 'two'])
    expect(Object.keys(hooks).sort()).toEqual(['chat.message', 'event'])
  })

  it('end at the one that refuses a call', async () => {
    const said: string[] = []
    const hooks = composeHooks([
      { 'tool.execute.before': () => Promise.reject(new RefusedCall('no')) },
      { 'tool.execute.before': async () => void said.push('later') },
    ])
    await expect(hooks['tool.execute.before']?.({} as never, {} as never)).rejects.toThrow('no')
    expect(said).toEqual([])
  })
})

const NO_ACCESS = Object.assign(new Error('EACCES: no'), { code: 'EACCES', path: '/x' })
const INTERNAL = 'internal error (post-read nudge, tool.execute.after:'
it.each([
  [new Error('broken'), `${INTERNAL} broken). Please report it.`],
  [null, `${INTERNAL} null). Please report it.`],
  [NO_ACCESS, 'cannot write /x (EACCES): check its permissions and the free space.'],
])('a fault in a factory is logged and does not reach the session: %s', async (error, line) => {
  const logged: string[] = []
  const client = {
    app: { log: async ({ body }: { body: { message: string } }) => logged.push(body.message) },
    session: { get: () => Promise.reject(error) },
    tui: { showToast: async () => ({}) },
  }
  const hooks = createPostReadNudgeHook({ client, directory }, { every: 1 })
  const output = { output: 'text' }
  await hooks['tool.execute.after']({ tool: 'read', ...CALL }, output)
  expect(output).toEqual({ output: 'text' })
  expect(logged).toEqual([`postflight-guard: ${line}`])
})

describe('the reminder of a phase', () => {
  const STAY = 'Do not work ahead of this phase, and do not skip it.'
  const folder = { path: '/x', task: '007_x', relative: 'specs/007_x' } as never

  it.each([
    [{ prompt: 'p', artifact: 'a.md' }, undefined, ` It must produce /x/a.md. ${STAY}`],
    [{ steps: ['s1'] }, 'Slowly.', ' Slowly.'],
  ])('of a phase with %j names its artifact, and ends with the advice', (more, advice, end) => {
    const state = begin({ id: 'do', ...more })
    const begins = `[postflight-guard] The workflow "${state.name}" of task 007_x is in phase "do".`
    expect(locationInRun(folder, state, advice)).toBe(`${begins}${end}`)
  })

  it('names every step in progress, each with its file', () => {
    const run = begin({ id: 'a', steps: ['s1', 's2', 's3', 's4'], parallel: 3 })
    const state = { ...run, stepsKnown: true, totalSteps: 4 }
    const inWork = [1, 3].map((step) => ({ step, attempts: 0, maxAttempts: 2, out: true, failure: undefined }))
    expect(locationInRun(folder, { ...state, inWork }, 'Slowly.')).toContain(
      'phase "a", steps 2, 4 of 4. It must produce /x/step-result-2.json, /x/step-result-4.json. Slowly.',
    )
    const alone = `step 1 of 4. It must produce /x/step-result-1.json. ${STAY}`
    expect(locationInRun(folder, state, undefined)).toContain(`phase "a", ${alone}`)
  })
})

describe('an error about JSON', () => {
  const invalid = (message: string): string =>
    `The arguments provided to the tool are invalid: Invalid input for tool read: JSON parsing failed: Text: {"a": Unterminated string.\nError message: JSON Parse error: ${message}`

  const V8 = 'SyntaxError:'
  // As Bun says it in the tool `invalid`, and as V8 and Python do.
  it.each([
    ['unterminated', invalid('Unterminated string'), `${V8} Unterminated string in JSON at position 12 (line 1)`],
    ['cut-off', invalid('Unexpected EOF'), `${V8} Unexpected end of JSON input`],
    ['single-quotes', invalid("Single quotes (') are not allowed in JSON")],
    ['key', invalid('Property name must be a string literal'), `${V8} Expected double-quoted property name in JSON`],
    ['colon', invalid("Expected ':' before value in object property definition")],
    ['object-end', invalid("Expected '}'"), `${V8} Expected ',' or '}' after property value in JSON at position 9`],
    ['array-end', invalid("Expected ']'"), `${V8} Expected ',' or ']' after array element in JSON at position 9`],
    ['escape', invalid('Invalid escape character x'), `${V8} Bad escaped character in JSON at position 4`],
    ['control-character', `${V8} Bad control character in string literal in JSON at position 4`],
    ['trailing-text', invalid('Unable to parse JSON string'), `${V8} Unexpected non-whitespace character after JSON`],
    ['word', invalid('Unexpected identifier "undefined"'), `${V8} Unexpected token 'N', "None" is not valid JSON`],
    ['word', 'json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)'],
    ['other', 'The request holds invalid JSON.'],
  ])('is recognized as %s: %s', (fault, ...outputs) => {
    expect(outputs.map(jsonFaultIn)).toEqual(outputs.map(() => fault))
  })

  it.each([
    'All is well.',
    '{"a": 1}',
    "The arguments provided to the tool are invalid: Model tried to call unavailable tool 'x'. Available tools: read.",
    `JSON Parse error: Unterminated string ${'x'.repeat(2_000)}`,
    "TypeError: Expected ':' in the clock",
  ])('is not %s', (output) => expect(jsonFaultIn(output)).toBeUndefined())

  it('is looked for behind long arguments, and never in the output of a tool that may hold any text, or that the option excepts', async () => {
    const options = { except: ['parse_other'] }
    const { 'tool.execute.after': callEnded } = createJsonErrorRecoveryHook({ client: {}, directory }, options)
    const long = { output: invalid('Unterminated string').replace('{"a"', `{"a${'x'.repeat(9_000)}"`) }
    await callEnded({ tool: 'invalid', ...CALL, args: { tool: 'write' } }, long)
    expect(long.output).toContain('The call of "write" did not reach the tool')
    const error = 'JSON Parse error: Unterminated string'
    for (const tool of ['bash', 'read', 'grep', 'glob', 'webfetch', 'task', 'parse_other']) {
      const output = { output: error }
      await callEnded({ tool, ...CALL }, output)
      expect(output.output).toBe(error)
    }
    const other = { output: undefined as never }
    await callEnded({ tool: 'mcp_tool', ...CALL }, other)
    expect(other.output).toBeUndefined()
  })

  it("is looked for in the result of an MCP server's tool, which is a list", async () => {
    const { 'tool.execute.after': callEnded } = createJsonErrorRecoveryHook({ client: {}, directory })
    const error = { type: 'text', text: 'JSON Parse error: Unterminated string' }
    const broken = { content: [{ type: 'image' }, error] }
    const well = { content: [{ type: 'text', text: 'All is well.' }] }
    for (const result of [broken, well]) await callEnded({ tool: 'server_tool', ...CALL }, result)
    const text = expect.stringMatching(/^\[postflight-guard\] If this error is about the arguments/)
    expect(broken.content).toEqual([{ type: 'image' }, error, { type: 'text', text }])
    expect(well.content).toHaveLength(1)
  })
})

it.each([
  ['JSON parsing failed: Text: ', jsonFaultIn],
  ['JSON parse error SyntaxError Expected ', jsonFaultIn],
  ['Expected x, got ', delegationFailureIn],
  ['invalid arguments "', delegationFailureIn],
  ['rate  exceeded your quota too many ', rateLimitTest([])],
])('a hostile text of many "%s" takes less than 50 ms', (words, look) => {
  const text = words.repeat(50_000)
  // The best of five: other programs may use the processor meanwhile.
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now()
    look(text)
    return performance.now() - start
  })
  expect(Math.min(...times)).toBeLessThan(50)
})

describe('a failed delegation', () => {
  const DEPTH = 'Subagent depth limit reached (1). Increase "subagent_depth" to allow nested subagents.'
  const invalid = (what: string): string => `The task tool was called with invalid arguments: SchemaError(${what}).`

  it.each([
    ['missing-argument', 'prompt', invalid('Missing key\n  at ["prompt"]')],
    ['missing-argument', 'run_in_background', '[ERROR] Missing required parameter: run_in_background'],
    ['missing-argument', 'load_skills', 'load_skills parameter is REQUIRED'],
    ['wrong-argument', 'subagent_type', invalid('Expected string, got 7\n  at ["subagent_type"]')],
    ['wrong-argument', '', 'Invalid arguments: 7'],
    ['wrong-argument', '', invalid('Expected object, got "x"')],
    ['unknown-agent', 'nobody', 'Unknown agent type: nobody is not a valid agent type'],
    ['unknown-agent', 'ghost', 'Agent "ghost" not found'],
    ['primary-agent', 'plan', 'Cannot call primary agent "plan" by task'],
    ['unknown-category', 'visual', 'Unknown category: "visual"'],
    ['unknown-skill', 'no-such', 'Skill "no-such" not found. Available skills: one, two'],
    ['unknown-skill', 'gitty', 'Skills not found: gitty'],
    ['unknown-task', 'ses_1', 'Session ses_1 not found'],
    ['both-given', 'category and subagent_type', 'category and subagent_type are mutually exclusive'],
    ['both-given', 'OR subagent_type, not both', 'Provide EITHER category OR subagent_type, not both.'],
    ['background', 'Background', 'Background subagents require OPENCODE_EXPERIMENTAL_BACKGROUND_SUBAGENTS=true'],
    ['depth', 'Subagent depth', DEPTH],
    ['refused', 'rejected permission', 'The user rejected permission to use this specific tool call.'],
    ['model', 'a/b', 'Model not found: a/b.'],
  ])('is recognized as %s of "%s": %s', (kind, name, error) => {
    expect(delegationFailureIn(error)).toMatchObject({ kind, name })
    const fix = delegationFix(delegationFailureIn(error) as never, ['explore', 'general'])
    expect(fix).toMatch(/^\[postflight-guard\] [A-Z"][^\n]+\.$/)
  })

  it.each([
    'Tool execution aborted',
    'This request would exceed the rate limit',
    'Subagent failed (task_id: ses_1): The user rejected permission to use this specific tool call.',
    '',
  ])('is not %s', (error) => expect(delegationFailureIn(error)).toBeUndefined())

  // The first three are results of a plugin that replaces `task`.
  it.each([
    ['task', 'Invalid arguments: Must provide either category or subagent_type.', 'Call the task tool again'],
    ['task', '❌ Skills not found: gitty. Available: git-master', 'Unknown skill "gitty". Skills: git-master.'],
    ['delegate_task', '[ERROR] Unknown category: "slow". Available: quick', 'Unknown category "slow".'],
    ['task', '<task id="ses_1" state="completed">\n<task_result>\nUnknown agent "x".\n</task_result>\n</task>', ''],
    ['bash', 'Unknown agent: x', ''],
  ])('has its advice in the result of %s: %s', async (tool, error, advice) => {
    const hooks = createDelegateTaskRetryHook({ client: { app: { agents: async () => ({}) } }, directory }, undefined)
    const output = { output: error }
    await hooks['tool.execute.after']({ tool, ...CALL }, output)
    expect(output.output.slice(error.length)).toMatch(advice === '' ? /^$/ : `\n\n[postflight-guard] ${advice}`)
  })

  it('gets its advice in a copy, with the words of the first time', async () => {
    const data = Object.entries({ general: 'subagent', build: 'primary' }).map(([name, mode]) => ({ name, mode }))
    const agents = vi.fn(async () => ({ data }))
    const hooks = createDelegateTaskRetryHook({ client: { app: { agents } }, directory }, undefined)
    const error = 'Unknown agent type: nobody is not a valid agent type'
    const part = { id: 'prt_1', type: 'tool', tool: 'task', state: { status: 'error', error } }
    const messages = [{ info: { role: 'assistant' }, parts: [part] }] as unknown as Message[]
    for (const list of [messages, [...messages]]) {
      await hooks['experimental.chat.messages.transform']({}, { messages: list })
      expect(list[0]?.parts[0]?.state?.error).toMatch(/^Unknown agent type[^\n]*\n\n.*Agents: general\. /)
    }
    expect(part.state.error).toBe(error)
    expect(agents).toHaveBeenCalledOnce()
  })
})

describe('the words of a rate limit', () => {
  it.each([
    ...['Too Many Requests', 'This request would exceed your rate limit of 50 requests per minute', 'rate_limit_error'],
    ...["the test's script says 429", 'You exceeded your current quota', 'RESOURCE_EXHAUSTED', 'Usage limit reached'],
    ...['Provider is overloaded', 'Request rate increased too quickly', 'Free usage exceeded, subscribe to Go'],
  ])('are %s', (text) => expect(rateLimitTest([])(text)).toBe(true))

  it.each(['Internal server error', 'fetch failed', 'model 4290 not found', undefined])('are not %s', (text) => {
    expect(rateLimitTest([])(text)).toBe(false)
  })

  it('can be extended', () => expect(rateLimitTest(['come back (later|tomorrow)'])('Come back tomorrow.')).toBe(true))
})

it('the headers for GitHub Copilot fetch each message once, and remember a bounded number of them', async () => {
  const asked: string[] = []
  const message = async ({ path }: { path: { messageID: string } }) => {
    asked.push(path.messageID)
    return { data: { parts: [ownText('x')] } }
  }
  const hooks = createChatHeadersHook({ client: { session: { message } }, directory }, undefined)
  const headersOf = async (id: string, providerID = 'github-copilot', agent = 'build') => {
    const headers: Record<string, string> = {}
    const request = { sessionID: 's', agent, model: { providerID }, message: { id } }
    await hooks['chat.headers'](request, { headers })
    return headers
  }
  expect(await headersOf('m0')).toEqual({ 'x-initiator': 'agent' })
  expect(await headersOf('m0')).toEqual({ 'x-initiator': 'agent' })
  expect(await headersOf('m0', 'github-copilot', 'title')).toEqual({})
  expect(await headersOf('m0', 'anthropic')).toEqual({})
  expect(asked).toEqual(['m0'])
  for (let n = 1; n <= 1_000; n++) await headersOf(`m${n}`)
  asked.length = 0
  await headersOf('m1000')
  await headersOf('m0')
  expect(asked).toEqual(['m0'])
})

describe('the foreground fallback', () => {
  const SESSION = 'ses_1'

  function scene(chains: Record<string, string[]>) {
    const sent: string[] = []
    const log: string[] = []
    const model = { providerID: 'a', modelID: '1' }
    const user = { id: 'm1', role: 'user', sessionID: SESSION, agent: 'build', model }
    const place = { messageID: 'm1', sessionID: SESSION }
    const parts = [
      { id: 'p', ...place, ...ownText('go') },
      { id: 'q', ...place, type: 'text', text: 'the text of a file', synthetic: true },
      { type: 'step-start' },
    ]
    const status = { isBusy: true }
    const asked = { data: [{ info: user, parts }] as object[] }
    const client = {
      app: { log: async ({ body }: { body: { message: string } }) => log.push(body.message) },
      tui: { showToast: async () => ({}) },
      config: { providers: async () => ({ data: { providers: [{ id: 'a', models: { 1: {}, 2: {}, 3: {} } }] } }) },
      session: {
        get: async () => ({ data: { id: SESSION } }),
        messages: async () => asked,
        message: async () => ({ data: { info: user, parts } }),
        status: async () => ({ data: status.isBusy ? { [SESSION]: { type: 'retry' } } : {} }),
        abort: async () => {
          status.isBusy = false
          return { data: true }
        },
        promptAsync: async ({ body }: { body: { model: typeof model; parts: object[] } }) => {
          sent.push(`${body.model.providerID}/${body.model.modelID} ${JSON.stringify(body.parts)}`)
          return {}
        },
      },
    }
    const hooks = createForegroundFallbackHook({ client, directory }, { chains })
    const message = async (modelID: string) => {
      status.isBusy = true
      const planned = { ...user, agent: 'plan', model: { ...model, modelID } }
      await hooks['chat.message']({}, { message: planned as never, parts: [] })
      // As after the tool `plan_exit`.
      await hooks['experimental.chat.messages.transform']({}, { messages: [{ info: user as never, parts }] })
    }
    const retry = () =>
      event('session.status', { sessionID: SESSION, status: { type: 'retry', message: 'rate limit' } })
    const event = (type: string, properties: object) => hooks.event({ event: { type, properties } })
    return { sent, log, status, asked, message, retry, event }
  }
  const TEXT = JSON.stringify([ownText('go')])

  it('counts the signs of one limit once, and sends the message with its tag and without its old ids', async () => {
    const { sent, message, retry } = scene({ build: ['a/1', 'a/2', 'a/nowhere', 'b/1', 'a/3'] })
    await message('1')
    await Promise.all([retry(), retry(), retry()])
    await retry()
    expect(sent).toEqual([`a/2 ${TEXT}`])
    await message('2')
    await retry()
    expect(sent).toEqual([`a/2 ${TEXT}`, `a/3 ${TEXT}`])
    await message('3')
    await retry()
    await retry()
    expect(sent).toHaveLength(2)
  })

  it('begins anew with a new message, ends with an interruption, and forgets a deleted session', async () => {
    const { sent, message, retry, event } = scene({ build: ['a/2'] })
    await message('1')
    await retry()
    await message('2')
    await message('1')
    await retry()
    expect(sent).toHaveLength(2)
    await message('2')
    await message('1')
    await event('session.error', { sessionID: SESSION, error: { name: 'MessageAbortedError' } })
    await retry()
    expect(sent).toHaveLength(2)
    await message('1')
    await event('session.deleted', { info: { id: SESSION } })
    await retry()
    expect(sent).toHaveLength(2)
  })

  it('ends with an interruption while OpenCode waits for its next try: the session is idle then', async () => {
    const { sent, status, message, retry } = scene({ build: ['a/2'] })
    await message('1')
    status.isBusy = false
    await retry()
    status.isBusy = true
    await retry()
    expect(sent).toEqual([])
  })

  it('sends the message of a turn again whose steps fill the last messages', async () => {
    const { sent, asked, message, retry } = scene({ build: ['a/2'] })
    await message('1')
    asked.data = [{ info: { role: 'assistant', parentID: 'm1' }, parts: [] }]
    await retry()
    expect(sent).toEqual([`a/2 ${TEXT}`])
  })

  it('leaves a compaction to OpenCode, and has the whole chain afterwards', async () => {
    const { sent, log, status, asked, message, retry } = scene({ build: ['a/2'] })
    await message('1')
    const { data } = asked
    asked.data = [{ info: { ...Object(data[0]).info, id: 'm2' }, parts: [{ type: 'compaction', auto: true }] }]
    await retry()
    await retry()
    expect({ sent, log, isBusy: status.isBusy }).toEqual({ sent: [], log: [], isBusy: true })
    asked.data = data
    await retry()
    expect(sent).toEqual([`a/2 ${TEXT}`])
  })

  it('leaves agents without a chain, other errors and other states alone', async () => {
    const other = scene({ plan: ['a/2'] })
    await other.message('1')
    await other.retry()
    const { sent, message, event } = scene({ build: ['a/2'] })
    await message('1')
    await event('session.error', { sessionID: SESSION, error: { name: 'APIError', data: { message: 'broken' } } })
    await event('session.status', { sessionID: SESSION, status: { type: 'busy' } })
    const error = { name: 'ContextOverflowError', data: { message: 'Your request exceeded model token limit: 131072' } }
    await event('session.error', { sessionID: SESSION, error })
    expect([...other.sent, ...sent]).toEqual([])
    await event('session.error', { sessionID: SESSION, error: { name: 'APIError', data: { statusCode: 429 } } })
    expect(sent).toHaveLength(1)
  })
})
