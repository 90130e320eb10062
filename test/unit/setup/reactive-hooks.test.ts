import { describe, expect, it } from 'vitest'
import {
  claudeTool,
  isReactiveHook,
  omissionsOf,
  REACTIVE_HOOK_TEXT,
  type ReactiveRule,
  RULES_TEXT,
  reactiveEntries,
  readRules,
  TOOL_NAMES,
} from '../../../src/setup/reactive/reactive-rule.ts'

const RULE: ReactiveRule = { tool: 'bash', prompt: 'Look.' }

function hookOf(fields: Partial<ReactiveRule>) {
  const [entry] = reactiveEntries([{ ...RULE, ...fields }])
  return { event: entry?.event, matcher: entry?.group.matcher, hook: entry?.group.hooks[0] }
}

describe('reactiveEntries', () => {
  it('puts a rule that gives context behind the call, and one that blocks before it', () => {
    expect(hookOf({}).event).toBe('PostToolUse')
    expect(hookOf({ answer: 'context' }).event).toBe('PostToolUse')
    expect(hookOf({ answer: 'block' }).event).toBe('PreToolUse')
  })

  it('tells the agent what its answer does, and hands it the call', () => {
    const context = hookOf({}).hook?.prompt ?? ''
    expect(context).toMatch(/^Look\.\n\nAnother agent has just made[\s\S]+blocks nothing[\s\S]+\n\n\$ARGUMENTS$/)
    const block = hookOf({ answer: 'block' }).hook?.prompt ?? ''
    expect(block).toMatch(/^Look\.\n\nAnother agent is about to make[\s\S]+must not run[\s\S]+\n\n\$ARGUMENTS$/)
    expect(block).not.toContain('Use only')
    expect(hookOf({ tools: ['bash', 'mcp__x__y', 'LSP'] }).hook?.prompt).toContain(
      'Use only these tools: Bash, mcp__x__y, LSP.',
    )
  })

  it.each<[Partial<ReactiveRule>, object]>([
    [{}, { timeout: 30, statusMessage: 'postflight-guard, reactive rule: bash' }],
    [{ timeoutMs: 1 }, { timeout: 1 }],
    [{ timeoutMs: 1_001 }, { timeout: 2 }],
    [
      { command: 'git ?ommit*' },
      { if: 'Bash(git *ommit*)', statusMessage: expect.stringContaining('bash git ?ommit*') },
    ],
    [{ model: 'anthropic/claude-haiku-4-5' }, { model: 'claude-haiku-4-5' }],
  ])('%j', (fields, expected) => {
    expect(hookOf(fields).hook).toMatchObject({ type: 'agent', ...expected })
  })

  it('leaves out what is not given, and models of other providers', () => {
    const keys = ['type', 'prompt', 'timeout', 'statusMessage']
    expect(Object.keys(hookOf({}).hook ?? {})).toEqual(keys)
    expect(Object.keys(hookOf({ model: 'openai/gpt', agent: 'general' }).hook ?? {})).toEqual(keys)
  })

  it('names tools as Claude Code does', () => {
    expect(TOOL_NAMES.map((tool) => `${tool}: ${claudeTool(tool)}`)).toEqual([
      ...['bash: Bash', 'read: Read', 'edit: Edit', 'write: Write', 'glob: Glob', 'grep: Grep', 'webfetch: WebFetch'],
      ...['websearch: WebSearch', 'task: Agent', 'skill: Skill', 'todowrite: TodoWrite'],
    ])
    expect(['LSP', 'x mcp__y', 'lSP', 'constructor'].map(claudeTool)).toEqual(['LSP', undefined, undefined, undefined])
    expect(hookOf({ tool: 'task' }).matcher).toBe('Agent')
    expect(hookOf({ tool: 'mcp__x__y' }).matcher).toBe('mcp__x__y')
    for (const unknown of ['lsp', 'toString', 'mcp_x', '']) expect(claudeTool(unknown)).toBeUndefined()
  })
})

describe('a whole entry', () => {
  it('has what the rule says', () => {
    const rule: ReactiveRule = {
      ...{ tool: 'bash', command: 'git ?ommit*', prompt: 'Look.', model: 'anthropic/claude-haiku-4-5' },
      ...{ tools: ['read', 'lsp'], timeoutMs: 1_500, answer: 'block' },
    }
    expect(reactiveEntries([rule])).toEqual([
      {
        event: 'PreToolUse',
        group: {
          matcher: 'Bash',
          hooks: [
            {
              type: 'agent',
              prompt: `Look.\n\n${REACTIVE_HOOK_TEXT.task('block', ['Read', 'lsp'])}\n\n$ARGUMENTS`,
              if: 'Bash(git *ommit*)',
              model: 'claude-haiku-4-5',
              timeout: 2,
              statusMessage: 'postflight-guard, reactive rule: bash git ?ommit*',
            },
          ],
        },
      },
    ])
    expect(reactiveEntries([{ ...RULE, tool: 'lsp' }])[0]?.group.matcher).toBe('lsp')
  })

  it.each(['anthropic/a b', 'anthropic/', 'x-anthropic/a', 'openai/anthropic/a'])('has no model for %j', (model) => {
    expect(hookOf({ model }).hook).not.toHaveProperty('model')
  })
})

describe('omissionsOf', () => {
  it('lists each field that a hook cannot have, with the number of its rule', () => {
    const rules = [RULE, { ...RULE, agent: 'a', model: 'openai/gpt', tools: ['bash', 'read'] }]
    expect(omissionsOf(rules)).toEqual([
      { rule: 2, field: 'agent', value: 'a' },
      { rule: 2, field: 'model', value: 'openai/gpt' },
      { rule: 2, field: 'tools', value: 'bash, read' },
    ])
    expect(omissionsOf([{ ...RULE, model: 'anthropic/x' }])).toEqual([])
  })
})

describe('isReactiveHook', () => {
  it('knows ours, and leaves those of the user', () => {
    expect(isReactiveHook(hookOf({}).hook)).toBe(true)
    const foreign = [
      { type: 'agent', prompt: 'x' },
      { type: 'agent', statusMessage: 'Checking' },
      { type: 'agent', statusMessage: 5 },
      { type: 'command', statusMessage: 'postflight-guard, reactive rule: x' },
      null,
      undefined,
      'agent',
    ]
    expect(foreign.filter(isReactiveHook)).toEqual([])
  })
})

describe('readRules', () => {
  it('returns the rules, without blanks around their words', () => {
    expect(readRules([{ ...RULE, command: ' git * ' }])).toEqual([{ ...RULE, command: 'git *' }])
    expect(readRules([])).toEqual([])
  })

  it.each<[unknown, string]>([
    [{}, ': it must be a list'],
    [null, ': it must be a list'],
    [undefined, ': it is missing'],
    [[RULE, 5], ', rule 2: it must be an object'],
    [[{ tool: 'bash' }], ', rule 1, prompt: it is missing'],
    [[{ ...RULE, tool: 5 }], ', rule 1, tool: it must be a string'],
    [[{ ...RULE, tools: 'bash' }], ', rule 1, tools: it must be a list'],
    [[{ ...RULE, command: '' }], ', rule 1, command: it must not be empty'],
    [[{ ...RULE, timeoutMs: 0 }], ', rule 1, timeoutMs: it must be between 1 and 3600000'],
    [[{ ...RULE, timeoutMs: 1.5 }], ', rule 1, timeoutMs: it must be a whole number'],
    [[{ ...RULE, tools: [5] }], ', rule 1, tools.0: it must be a string'],
    [[{ ...RULE, timeoutMs: '5' }], ', rule 1, timeoutMs: it must be a whole number'],
    [[{ ...RULE, timeoutMs: 3_600_001 }], ', rule 1, timeoutMs: it must be between 1 and 3600000'],
    [[{ ...RULE, promt: '' }], ', rule 1: unknown field "promt" (did you mean "prompt"?)'],
    [[{ ...RULE, xyzzy: '' }], ', rule 1: unknown field "xyzzy"'],
    [[{ ...RULE, answer: 'maybe' }], ', rule 1, answer: it must be "context" or "block"'],
    [[{ ...RULE, model: 'haiku' }], ', rule 1, model: it must name a provider and a model, as provider/model'],
    [[{ ...RULE, prompt: ' ' }], ', rule 1, prompt: it must not be empty'],
  ])('says where and what is wrong in %j', (value, sentence) => {
    const fault = readRules(value)
    if (!('detail' in fault)) throw new Error('no fault was found')
    expect(`${RULES_TEXT.location(fault.rule, fault.field)}: ${fault.detail}`).toBe(sentence)
  })
})
