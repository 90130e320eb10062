import { describe, expect, it } from 'vitest'
import {
  exemptionOf,
  handsOverReports,
  isAgentShell,
  sessionTranscript,
  shellIdentity,
  showsNotice,
  startsSubagent,
  takesContextAtTop,
  takesContextOfBlock,
  writesSequences,
} from '../../../src/hosts/all-hosts.ts'
import type { Payload, ShellIdentity } from '../../../src/hosts/host.ts'
import { EMPTY_PAYLOAD } from '../../../src/hosts/payload.ts'
import type { Environment } from '../../../src/kernel/values.ts'
import { PROJECT_VARIABLES } from '../../../src/project/root.ts'
import { mainStop, payload, subagentStop } from '../builders.ts'

describe("the session and the agent that the shell's environment names", () => {
  it.each<[string, Environment, ShellIdentity | undefined]>([
    ['no host', {}, undefined],
    ['other variables', { PATH: '/bin', SESSION_ID: 's1', CODEX_HOME: '/c' }, undefined],
    ['our own variables', { POSTFLIGHT_HOST_SESSION: 's1' }, { session: 's1' }],
    [
      'told directly, with the agent',
      { POSTFLIGHT_HOST_SESSION: 's1', POSTFLIGHT_AGENT: 'a1' },
      { session: 's1', agent: 'a1' },
    ],
    ['an agent without a session', { POSTFLIGHT_AGENT: 'a1' }, undefined],
    [
      'Claude Code, which does not name the agent',
      { CLAUDE_CODE_SESSION_ID: 's1', CLAUDECODE: '1' },
      { session: 's1', tellsDuration: true },
    ],
    ['an older Claude Code without the variable', { CLAUDECODE: '1' }, undefined],
    ['Codex', { CODEX_SESSION_ID: 's1' }, { session: 's1' }],
    [
      'Codex in its root thread is main',
      { CODEX_SESSION_ID: 's1', CODEX_THREAD_ID: 's1' },
      { session: 's1', agent: 'main' },
    ],
    [
      'Codex in a thread of its own is a sub-agent',
      { CODEX_SESSION_ID: 's1', CODEX_THREAD_ID: 't1' },
      { session: 's1', agent: 't1' },
    ],
    ['only a thread of Codex', { CODEX_THREAD_ID: 't1' }, undefined],
    ['Qwen Code', { QWEN_CODE_SESSION_ID: 's1' }, { session: 's1' }],
    [
      'Qwen Code in a sub-agent',
      { QWEN_CODE_SESSION_ID: 's1', QWEN_CODE_AGENT_ID: 'a1' },
      { session: 's1', agent: 'a1' },
    ],
    [
      "Qwen Code's main conversation has an empty agent",
      { QWEN_CODE_SESSION_ID: 's1', QWEN_CODE_AGENT_ID: '' },
      { session: 's1', agent: 'main' },
    ],
    ['only an agent of Qwen Code', { QWEN_CODE_AGENT_ID: 'a1' }, undefined],
    ['Copilot CLI', { COPILOT_AGENT_SESSION_ID: 's1' }, { session: 's1', isPiped: true }],
    ['droid, which names neither', { FACTORY_PROJECT_DIR: '/p' }, undefined],
  ])('%s', (_, environment, expected) => {
    expect(shellIdentity(environment)).toStrictEqual(expected)
  })

  it.each([
    'POSTFLIGHT_HOST_SESSION',
    'CLAUDE_CODE_SESSION_ID',
    'CODEX_SESSION_ID',
    'QWEN_CODE_SESSION_ID',
    'COPILOT_AGENT_SESSION_ID',
  ])('an empty %s counts as unset', (name) => {
    expect(shellIdentity({ [name]: '' })).toBeUndefined()
    expect(shellIdentity({ [name]: undefined })).toBeUndefined()
  })

  it.each([
    [{ POSTFLIGHT_HOST_SESSION: 's1', POSTFLIGHT_AGENT: '' }],
    [{ CODEX_SESSION_ID: 's1', CODEX_THREAD_ID: '' }],
  ])('an empty agent counts as unknown: %j', (environment) => {
    expect(shellIdentity(environment)).toStrictEqual({ session: 's1' })
  })

  it('the variables are read in this order, POSTFLIGHT_HOST_SESSION first', () => {
    const names = [
      'POSTFLIGHT_HOST_SESSION',
      'CLAUDE_CODE_SESSION_ID',
      'CODEX_SESSION_ID',
      'QWEN_CODE_SESSION_ID',
      'COPILOT_AGENT_SESSION_ID',
    ]
    for (const [index, name] of names.entries()) {
      const present = names.slice(index)
      expect(shellIdentity(Object.fromEntries(present.map((each) => [each, `session of ${each}`])))).toMatchObject({
        session: `session of ${name}`,
      })
    }
  })

  it('the agent of one host is never combined with the session of another', () => {
    const leaked = { CODEX_THREAD_ID: 't1', QWEN_CODE_AGENT_ID: 'a1', POSTFLIGHT_AGENT: 'a2' }
    expect(shellIdentity({ ...leaked, CLAUDE_CODE_SESSION_ID: 's1' })).toEqual({ session: 's1', tellsDuration: true })
  })
})

it.each<[string, Environment, boolean]>([
  ['a session of any host', { CODEX_SESSION_ID: 's1' }, true],
  ['an older Claude Code', { CLAUDECODE: '1' }, true],
  ['CLAUDECODE with another value', { CLAUDECODE: '0' }, false],
  ['AI_AGENT', { AI_AGENT: 'claude-code_2-1-329_agent' }, true],
  ['an empty AI_AGENT', { AI_AGENT: '' }, false],
  ['a terminal', { PATH: '/bin' }, false],
])("an agent's shell is known by %s: %o, %s", (_name, environment, isAgents) => {
  expect(isAgentShell(environment)).toBe(isAgents)
})

describe('a stop that is not judged', () => {
  const CALL = { hook_event_name: 'PreToolUse', tool_name: 'StructuredOutput' }
  const droid = { FACTORY_PROJECT_DIR: '/p' }
  it.each<[string, Payload, Environment, string | undefined]>([
    [
      "Claude Code's compaction, an agent without a type",
      subagentStop({ agent_type: '' }),
      {},
      'Claude Code: own-agent',
    ],
    [
      "the agent of one of Claude Code's hooks, which answers with StructuredOutput",
      payload({ ...CALL, agent_id: 'hook-agent-1' }),
      {},
      'Claude Code: own-agent',
    ],
    [
      "the structured answer of a workflow's agent counts",
      payload({ ...CALL, agent_id: 'a1', agent_type: 'workflow-subagent' }),
      {},
      undefined,
    ],
    ['the structured answer of the main conversation counts', payload(CALL), {}, undefined],
    [
      'the structured answer of an agent of another host counts',
      payload({ ...CALL, tool_name: 'structured_output', agent_id: 'a1' }),
      { QWEN_PROJECT_DIR: '/p' },
      undefined,
    ],
    ['the main conversation without a type counts', mainStop({ agent_type: '' }), {}, undefined],
    ['an agent with a type counts', subagentStop({ agent_type: 'worker' }), {}, undefined],
    ['an agent whose type is not told counts', subagentStop(), {}, undefined],
    ['an agent without a type of another host counts', subagentStop({ agent_type: '', turn_id: 't' }), {}, undefined],
    [
      "Copilot's first question per sub-agent: Stop with parent_agent_id",
      mainStop({ agent_id: 'c1', parent_agent_id: 'p1' }),
      {},
      'Copilot CLI: answer-ignored',
    ],
    ['its second stop, the SubagentStop, counts', subagentStop({ parent_agent_id: 'p1' }), {}, undefined],
    ['Stop without parent_agent_id counts', mainStop({ agent_id: 'c1' }), {}, undefined],
    ['an empty parent_agent_id counts as absent', mainStop({ parent_agent_id: '' }), {}, undefined],
    ["droid's SubagentStop", subagentStop(), droid, 'droid: answer-ignored'],
    ["droid's SubagentStop without any field", EMPTY_PAYLOAD, droid, 'droid: answer-ignored'],
    ["droid's Stop counts: its sub-agents stop so", mainStop(), droid, undefined],
    ['an empty FACTORY_PROJECT_DIR does not mean droid', subagentStop(), { FACTORY_PROJECT_DIR: '' }, undefined],
    ["Kimi Code's stop", mainStop({ client_type: 'kimi_code_cli' }), {}, 'Kimi Code: answer-ignored'],
    ["Kimi Code's SubagentStop", payload({ client_type: 'kimi_code_cli' }), {}, 'Kimi Code: answer-ignored'],
    ['another client_type counts', mainStop({ client_type: 'other' }), {}, undefined],
    ['any other', subagentStop(), { CLAUDE_PROJECT_DIR: '/p', QWEN_PROJECT_DIR: '/p' }, undefined],
  ])('%s', (_, stop, environment, expected) => {
    const exemption = exemptionOf(stop, environment)
    expect(exemption && `${exemption.host}: ${exemption.why}`).toBe(expected)
  })
})

describe('a notice is shown only on Claude Code', () => {
  it.each<[string, Payload, Environment, boolean]>([
    ['its own session', subagentStop(), { CLAUDE_CODE_SESSION_ID: 's1' }, true],
    [
      'a session that leaked from another (BS#133, BS#136)',
      subagentStop(),
      { CLAUDE_CODE_SESSION_ID: 's2', CLAUDECODE: '1' },
      false,
    ],
    ['a payload without a session', EMPTY_PAYLOAD, { CLAUDE_CODE_SESSION_ID: 's1', CLAUDECODE: '1' }, false],
    ['an older client without that variable', subagentStop(), { CLAUDECODE: '1' }, true],
    ['an empty variable', subagentStop(), { CLAUDE_CODE_SESSION_ID: '', CLAUDECODE: '1' }, true],
    ['CLAUDECODE with another value', subagentStop(), { CLAUDECODE: '0' }, false],
    ['Codex', subagentStop(), { CODEX_SESSION_ID: 's1' }, false],
    [
      'Copilot, which sets CLAUDE_PROJECT_DIR too',
      subagentStop(),
      { CLAUDE_PROJECT_DIR: '/p', COPILOT_PROJECT_DIR: '/p' },
      false,
    ],
    ['no host', subagentStop(), {}, false],
    [
      'a tool call',
      payload({ hook_event_name: 'PostToolUse', session_id: 's1' }),
      { CLAUDE_CODE_SESSION_ID: 's1' },
      true,
    ],
  ])('%s', (_, stop, environment, expected) => {
    expect(showsNotice(stop, environment)).toBe(expected)
    // Reports are handed over on the same host.
    expect(handsOverReports(stop, environment)).toBe(expected)
  })
})

it("the project's variables, Claude Code's first", () => {
  expect(PROJECT_VARIABLES).toEqual([
    'CLAUDE_PROJECT_DIR',
    'QWEN_PROJECT_DIR',
    'COPILOT_PROJECT_DIR',
    'FACTORY_PROJECT_DIR',
  ])
})

describe('the context of a block', () => {
  const stop = mainStop()
  it.each([
    ['claude-code_2-1-163_harness', true],
    ['claude-code_2-1-329_harness', true],
    ['claude-code_2-2-0_harness', true],
    ['claude-code_3-0-0_harness', true],
    ['claude-code_2-10-0_harness', true],
    ['claude-code_10-0-0_harness', true],
    ['claude-code_2-1-162_harness', false],
    ['claude-code_2-0-999_harness', false],
    ['claude-code_1-9-999_harness', false],
    ['claude-code_2-1-329_agent', false],
    ['claude-code_2-1_harness', false],
    ['other_2-1-329_harness', false],
    ['not-claude-code_2-1-329_harness', false],
    ['claude-code_2-1-329_harness-too', false],
    ['', false],
    [undefined, false],
  ])('%s: %s', (AI_AGENT, expected) => {
    expect(takesContextOfBlock(stop, { CLAUDECODE: '1', AI_AGENT })).toBe(expected)
  })

  it('is younger than sequences for the terminal', () => {
    const written = (AI_AGENT: string): boolean => writesSequences(stop, { CLAUDECODE: '1', AI_AGENT })
    expect(written('claude-code_2-1-141_harness')).toBe(true)
    expect(written('claude-code_2-1-140_harness')).toBe(false)
    expect(writesSequences(stop, { AI_AGENT: 'claude-code_2-1-141_harness' })).toBe(false)
  })

  it('is not for a host that was started from Claude Code and inherits its variables', () => {
    const inherited = { CLAUDE_CODE_SESSION_ID: 'another', AI_AGENT: 'claude-code_2-1-329_harness' }
    expect(takesContextOfBlock(stop, inherited)).toBe(false)
    expect(takesContextOfBlock(stop, { AI_AGENT: 'claude-code_2-1-329_harness' })).toBe(false)
  })
})

describe('Copilot CLI', () => {
  const ids = { session_id: 'kid', agent_id: 'kid', parent_agent_id: 's1' }
  const used = { hook_event_name: 'PostToolUse', tool_input: { command: 'postflight create 7' } }

  it('gives a sub-agent the session of its parent, at a command and at its stop', () => {
    const owner = { session: 's1', agent: 'kid' }
    expect(payload({ ...used, ...ids })).toMatchObject(owner)
    expect(payload({ hook_event_name: 'SubagentStop', ...ids, session_id: 's1' })).toMatchObject(owner)
    // A sub-agent of a sub-agent stops with a third id.
    expect(payload({ hook_event_name: 'SubagentStop', ...ids, session_id: 'third' })).toMatchObject(owner)
    expect(payload({ ...used, session_id: 's1', parent_agent_id: '' })).toMatchObject({ session: 's1', agent: 'main' })
    expect(payload({ ...used, session_id: 's1', parent_agent_id: 5 })).toMatchObject({ session: 's1', agent: 'main' })
  })

  it('has the output of a command in tool_result', () => {
    const text = { text_result_for_llm: 'created x' }
    expect(payload({ ...used, tool_result: text }).output).toBe('created x')
    expect(payload({ ...used, tool_result: text, tool_response: 'as elsewhere' }).output).toBe('as elsewhere')
    expect(payload({ ...used, tool_result: 'created x' }).output).toBe('')
  })

  it('reads context at the top of an answer; a host in its shell does not', () => {
    expect(takesContextAtTop(mainStop(), { COPILOT_CLI: '1', COPILOT_PROJECT_DIR: '/p' })).toBe(true)
    expect(takesContextAtTop(mainStop(), { COPILOT_CLI: '1', COPILOT_PROJECT_DIR: '' })).toBe(false)
  })
})

it('a session of droid that another one started is a sub-agent', () => {
  const start = { hook_event_name: 'SessionStart', calling_session_id: 's1' }
  expect(startsSubagent(payload(start), { FACTORY_PROJECT_DIR: '/p' })).toBe(true)
  expect(startsSubagent(payload(start), {})).toBe(false)
  expect(startsSubagent(payload({ ...start, calling_session_id: '' }), { FACTORY_PROJECT_DIR: '/p' })).toBe(false)
})

it('a transcript tells the birth of a session only where that was measured', () => {
  const stop = { transcript_path: '/t' }
  expect(sessionTranscript(mainStop(stop), {})).toBe('/t')
  expect(sessionTranscript(mainStop(stop), { CLAUDE_PROJECT_DIR: '/p' })).toBe('/t')
  for (const host of ['QWEN', 'COPILOT', 'FACTORY']) {
    expect(sessionTranscript(mainStop(stop), { [`${host}_PROJECT_DIR`]: '/p' })).toBeUndefined()
  }
  expect(sessionTranscript(mainStop({ ...stop, turn_id: 't' }), {})).toBeUndefined()
  expect(sessionTranscript(mainStop({ ...stop, client_type: 'kimi_code_cli' }), {})).toBeUndefined()
})
