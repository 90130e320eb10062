import { describe, expect, it } from 'vitest'
import { readEnd } from '../../../src/disk/read.ts'
import { anyHost, exemptionOf, isAgentShell, sessionTranscript, shellIdentity } from '../../../src/hosts/all-hosts.ts'
import type { ShellIdentity } from '../../../src/hosts/host.ts'
import type { Environment } from '../../../src/kernel/values.ts'
import { PROJECT_VARIABLES } from '../../../src/project/root.ts'
import { mainStop, payload } from '../builders.ts'

type Fields = Readonly<Record<string, unknown>>

const MAIN = { hook_event_name: 'Stop', session_id: 's1' }
const SUB = { hook_event_name: 'SubagentStop', session_id: 's1', agent_id: 'a1' }
const DROID = { FACTORY_PROJECT_DIR: '/p' }

describe("the session and the agent that the shell's environment names", () => {
  const OTHERS = ['CLAUDE_CODE', 'CODEX', 'QWEN_CODE', 'COPILOT_AGENT'].map((host) => `${host}_SESSION_ID`)
  const IN_ORDER = ['POSTFLIGHT_HOST_SESSION', ...OTHERS, 'POSTFLIGHT_DROID_SESSION']
  const ours = { POSTFLIGHT_HOST_SESSION: 's1' }
  const codex = { CODEX_SESSION_ID: 's1' }
  const qwen = { QWEN_CODE_SESSION_ID: 's1' }
  const droid = { POSTFLIGHT_DROID_SESSION: 's1' }
  const main = { session: 's1', agent: 'main' }
  const claude = { CLAUDE_CODE_SESSION_ID: 's1' }
  const otherAgents = { CODEX_THREAD_ID: 't1', QWEN_CODE_AGENT_ID: 'a1', POSTFLIGHT_AGENT: 'a2' }

  it.each<[string, Environment, ShellIdentity | undefined]>([
    ['no host', {}, undefined],
    ['other variables', { PATH: '/bin', SESSION_ID: 's1', CODEX_HOME: '/c' }, undefined],
    ['our own variables', ours, { session: 's1' }],
    ['told directly, with the agent', { ...ours, POSTFLIGHT_AGENT: 'a1' }, { session: 's1', agent: 'a1' }],
    ['told directly, with an empty agent', { ...ours, POSTFLIGHT_AGENT: '' }, { session: 's1' }],
    ['only agents, but no session', otherAgents, undefined],
    ['Claude Code, which does not name the agent', claude, { session: 's1', tellsDuration: true }],
    ['Claude Code with the agents of others', { ...otherAgents, ...claude }, { session: 's1', tellsDuration: true }],
    ['an older Claude Code without the variable', { CLAUDECODE: '1' }, undefined],
    ['Codex', codex, { session: 's1' }],
    ['Codex in its root thread is main', { ...codex, CODEX_THREAD_ID: 's1' }, { session: 's1', agent: 'main' }],
    ['Codex in another thread is a sub-agent', { ...codex, CODEX_THREAD_ID: 't1' }, { session: 's1', agent: 't1' }],
    ['Codex with an empty thread', { ...codex, CODEX_THREAD_ID: '' }, { session: 's1' }],
    ['Qwen Code', qwen, { session: 's1' }],
    ['Qwen Code in a sub-agent', { ...qwen, QWEN_CODE_AGENT_ID: 'a1' }, { session: 's1', agent: 'a1' }],
    ['Qwen Code with an empty agent is main', { ...qwen, QWEN_CODE_AGENT_ID: '' }, { session: 's1', agent: 'main' }],
    ['Copilot CLI', { COPILOT_AGENT_SESSION_ID: 's1' }, { session: 's1', isPiped: true }],
    ['droid, which names neither', DROID, undefined],
    ['droid, where the launcher named it', droid, main],
    ['a sub-agent of droid', { ...droid, POSTFLIGHT_DROID_SUBAGENT: 's1' }, { ...main, isSubagent: true }],
    ['a droid that a sub-agent of droid started', { ...droid, POSTFLIGHT_DROID_SUBAGENT: 's0' }, main],
    ['empty variables, which count as unset', Object.fromEntries(IN_ORDER.map((name) => [name, ''])), undefined],
  ])('%s', (_, environment, expected) => expect(shellIdentity(environment)).toStrictEqual(expected))

  it('the variables are read in this order, POSTFLIGHT_HOST_SESSION first', () => {
    for (const [index, name] of IN_ORDER.entries()) {
      const present = IN_ORDER.slice(index).map((each) => [each, `session of ${each}`])
      expect(shellIdentity(Object.fromEntries(present))).toMatchObject({ session: `session of ${name}` })
    }
  })
})

it.each<[string, Environment, boolean]>([
  ['a session of any host', { CODEX_SESSION_ID: 's1' }, true],
  ['an older Claude Code', { CLAUDECODE: '1' }, true],
  ['CLAUDECODE with another value', { CLAUDECODE: '0' }, false],
  ['AI_AGENT', { AI_AGENT: 'claude-code_2-1-329_agent' }, true],
  ["OpenCode's bash", { OPENCODE: '1', AGENT: '1' }, true],
  ['an empty AI_AGENT', { AI_AGENT: '' }, false],
  ['a terminal', { PATH: '/bin' }, false],
])("an agent's shell is known by %s: %o, %s", (_name, environment, isAgents) => {
  expect(isAgentShell(environment)).toBe(isAgents)
})

describe('a stop that is not judged', () => {
  const CALL = { hook_event_name: 'PreToolUse', tool_name: 'StructuredOutput' }
  const ofQwen = { ...CALL, tool_name: 'structured_output', agent_id: 'a1' }
  const asked = { ...MAIN, agent_id: 'c1', parent_agent_id: 'p1' }
  const kimi = { client_type: 'kimi_code_cli' }
  const transcript = { ...MAIN, transcript_path: 'test/fixtures/droid-transcript.jsonl' }
  it.each<[string, Fields, Environment, string?]>([
    ["Claude Code's compaction, an agent without a type", { ...SUB, agent_type: '' }, {}, 'Claude Code: own-agent'],
    ["an agent of Claude Code's hooks, which answers so", { ...CALL, agent_id: 'h1' }, {}, 'Claude Code: own-agent'],
    ["a workflow's agent that answers so counts", { ...CALL, agent_id: 'a1', agent_type: 'workflow-subagent' }, {}],
    ['the main conversation that answers so counts', CALL, {}],
    ['an agent of another host that answers so counts', ofQwen, { QWEN_PROJECT_DIR: '/p' }],
    ['the main conversation without a type counts', { ...MAIN, agent_type: '' }, {}],
    ['an agent with a type counts', { ...SUB, agent_type: 'worker' }, {}],
    ['an agent without a type of another host counts', { ...SUB, agent_type: '', turn_id: 't' }, {}],
    ['an agent whose type is not told counts', SUB, {}],
    ["Copilot's first question per sub-agent, a Stop", asked, {}, 'Copilot CLI: answer-ignored'],
    ['its second stop, the SubagentStop, counts', { ...SUB, parent_agent_id: 'p1' }, {}],
    ['Stop without parent_agent_id counts', { ...MAIN, agent_id: 'c1' }, {}],
    ['an empty parent_agent_id counts as absent', { ...MAIN, parent_agent_id: '' }, {}],
    ["droid's SubagentStop without any field", {}, DROID, 'droid: answer-ignored'],
    ["droid's Stop counts: its sub-agents stop so", MAIN, DROID],
    ['its Stop after a message of its agent counts', { ...transcript, message_id: 'm1' }, DROID],
    ['its Stop after an empty answer to a block counts', { ...transcript, message_id: 'm3' }, DROID],
    ['its Stop after an empty answer to a failed command counts', { ...transcript, message_id: 'm4' }, DROID],
    ['its Stop after a message that is not there counts', { ...transcript, message_id: 'm9' }, DROID],
    ['its Stop without a transcript counts', { ...MAIN, message_id: 'm2' }, DROID],
    ['another event of it counts', { ...transcript, message_id: 'm2', hook_event_name: 'PreToolUse' }, DROID],
    ['its Stop after Esc during a command', { ...transcript, message_id: 'm2' }, DROID, 'droid: cut-off'],
    ['its Stop after a refused call', { ...transcript, message_id: 'm5' }, DROID, 'droid: cut-off'],
    ['its Stop after a call that was cancelled', { ...transcript, message_id: 'm6' }, DROID, 'droid: cut-off'],
    ['its Stop after an error', { ...transcript, message_id: 'm7' }, DROID, 'droid: cut-off'],
    ['an empty FACTORY_PROJECT_DIR does not mean droid', SUB, { FACTORY_PROJECT_DIR: '' }],
    ["Kimi Code's stop", { ...MAIN, ...kimi }, {}, 'Kimi Code: answer-ignored'],
    ["Kimi Code's SubagentStop", kimi, {}, 'Kimi Code: answer-ignored'],
    ['another client_type counts', { ...MAIN, client_type: 'other' }, {}],
    ['any other', SUB, { CLAUDE_PROJECT_DIR: '/p', QWEN_PROJECT_DIR: '/p' }],
  ])('%s', (_, stop, environment, expected) => {
    const exemption = exemptionOf(payload(stop), environment, readEnd)
    expect(exemption && `${exemption.host}: ${exemption.why}`).toBe(expected)
  })
})

describe('a notice is shown only on Claude Code', () => {
  const CLAUDECODE = '1'
  const own = { CLAUDE_CODE_SESSION_ID: 's1' }
  it.each<[string, Fields, Environment, boolean]>([
    ['its own session', SUB, own, true],
    ['a session that leaked (BS#133, BS#136)', SUB, { CLAUDE_CODE_SESSION_ID: 's2', CLAUDECODE }, false],
    ['a payload without a session', {}, { ...own, CLAUDECODE }, false],
    ['an older client without that variable', SUB, { CLAUDECODE }, true],
    ['an empty variable', SUB, { CLAUDE_CODE_SESSION_ID: '', CLAUDECODE }, true],
    ['CLAUDECODE with another value', SUB, { CLAUDECODE: '0' }, false],
    ['Codex', SUB, { CODEX_SESSION_ID: 's1' }, false],
    ['Copilot, with its CLAUDE_PROJECT_DIR', SUB, { CLAUDE_PROJECT_DIR: '/p', COPILOT_PROJECT_DIR: '/p' }, false],
    ['no host', SUB, {}, false],
    ['a tool call', { hook_event_name: 'PostToolUse', session_id: 's1' }, own, true],
  ])('%s', (_, fields, environment, expected) => {
    const event = payload(fields)
    expect(anyHost('showsNotice', event, environment)).toBe(expected)
    // Reports are handed over on the same host.
    expect(anyHost('handsOverReports', event, environment)).toBe(expected)
  })
})

it("the project's variables, Claude Code's first", () => {
  expect(PROJECT_VARIABLES).toEqual(['CLAUDE', 'QWEN', 'COPILOT', 'FACTORY'].map((host) => `${host}_PROJECT_DIR`))
})

describe('the context of a block', () => {
  const stop = mainStop()
  const isTaken = (environment: Environment) => anyHost('takesContextOfBlock', stop, environment)
  it.each(['2-1-163', '2-1-329', '2-2-0', '3-0-0', '2-10-0', '10-0-0'])('is taken by Claude Code %s', (version) => {
    expect(isTaken({ CLAUDECODE: '1', AI_AGENT: `claude-code_${version}_harness` })).toBe(true)
  })

  it.each([
    ...['2-1-162_harness', '2-0-999_harness', '1-9-999_harness', '2-1-329_agent', '2-1_harness', '2-1-329_harness-too'],
    ...['other_2-1-329_harness', 'not-claude-code_2-1-329_harness', '', undefined],
  ])('is not taken by %s', (name) => {
    const AI_AGENT = name !== undefined && /^\d/.test(name) ? `claude-code_${name}` : name
    expect(isTaken({ CLAUDECODE: '1', AI_AGENT })).toBe(false)
  })

  it.each([
    [{ CLAUDECODE: '1', AI_AGENT: 'claude-code_2-1-141_harness' }, true],
    [{ CLAUDECODE: '1', AI_AGENT: 'claude-code_2-1-140_harness' }, false],
    [{ AI_AGENT: 'claude-code_2-1-141_harness' }, false],
  ])('is younger than sequences for the terminal: %j, %s', (environment, expected) => {
    expect(anyHost('writesSequences', stop, environment)).toBe(expected)
  })

  it.each([{}, { CLAUDE_CODE_SESSION_ID: 'another' }])(
    'is not for a host that was started from Claude Code and inherits its variables: %j',
    (inherited) => {
      expect(isTaken({ ...inherited, AI_AGENT: 'claude-code_2-1-329_harness' })).toBe(false)
    },
  )
})

describe('Copilot CLI', () => {
  const ids = { session_id: 'kid', agent_id: 'kid', parent_agent_id: 's1' }
  const used = { hook_event_name: 'PostToolUse', tool_input: { command: 'postflight create 7' } }

  it.each([
    ['a command', { ...used, ...ids }, 'kid'],
    ['its stop', { hook_event_name: 'SubagentStop', ...ids, session_id: 's1' }, 'kid'],
    ['the stop of its own sub-agent, which has a third id', { ...SUB, ...ids, session_id: 'third' }, 'kid'],
    ['a command, but not with an empty parent', { ...used, session_id: 's1', parent_agent_id: '' }, 'main'],
    ['a command, but not with a parent that is no text', { ...used, session_id: 's1', parent_agent_id: 5 }, 'main'],
  ])('gives a sub-agent the session of its parent, at %s', (_, fields, agent) => {
    expect(payload(fields)).toMatchObject({ session: 's1', agent })
  })

  const SAVED = 'Output too large to read at once (28.3 KB). Saved to: /tmp/a b.txt\nPreview'
  it.each([
    [{ tool_result: { text_result_for_llm: 'created x' } }, 'created x'],
    [{ tool_result: { text_result_for_llm: `1\n${SAVED}` } }, `1\n${SAVED}`],
    [{ tool_result: { text_result_for_llm: SAVED } }, `${SAVED}\nthe end of /tmp/a b.txt`],
    [{ tool_result: { text_result_for_llm: 'created x' }, tool_response: 'as elsewhere' }, 'as elsewhere'],
    [{ tool_result: 'created x' }, ''],
  ])('has the output of a command in tool_result: %j, %j', (results, output) => {
    expect(payload({ ...used, ...results }, (file) => `the end of ${file}`).output).toBe(output)
  })

  it('reads context at the top of an answer; a host in its shell does not', () => {
    expect(anyHost('takesContextAtTop', mainStop(), { COPILOT_CLI: '1', COPILOT_PROJECT_DIR: '/p' })).toBe(true)
    expect(anyHost('takesContextAtTop', mainStop(), { COPILOT_CLI: '1', COPILOT_PROJECT_DIR: '' })).toBe(false)
  })
})

it.each([
  ['s1', DROID, true],
  ['s1', {}, false],
  ['', DROID, false],
])(
  'a session of droid that another one started is a sub-agent: "%s", %j, %s',
  (calling_session_id, environment, expected) => {
    expect(
      anyHost('startsSubagent', payload({ hook_event_name: 'SessionStart', calling_session_id }), environment),
    ).toBe(expected)
  },
)

it.each<[Fields, Environment, string?]>([
  [{}, {}, '/t'],
  [{}, { CLAUDE_PROJECT_DIR: '/p' }, '/t'],
  ...['QWEN', 'COPILOT', 'FACTORY'].map((host): [Fields, Environment] => [{}, { [`${host}_PROJECT_DIR`]: '/p' }]),
  [{ turn_id: 't' }, {}],
  [{ client_type: 'kimi_code_cli' }, {}],
])(
  'a transcript tells the birth of a session only where that was measured: %j, %j, %s',
  (more, environment, expected) => {
    expect(sessionTranscript(mainStop({ transcript_path: '/t', ...more }), environment)).toBe(expected)
  },
)
