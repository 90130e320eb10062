import { describe, expect, it } from 'vitest'
import {
  claudeTool,
  isReactiveHook,
  omissionNotes,
  type ReactiveRule,
  reactiveEntries,
  readRules,
  TOOL_NAMES,
} from '../../../src/setup/reactive/reactive-rule.ts'

const statusMessage = 'postflight-guard, reactive rule: bash'
const RULE: ReactiveRule = { tool: 'bash', prompt: 'Look.' }

function hookOf(fields: Partial<ReactiveRule>) {
  const [entry] = reactiveEntries([{ ...RULE, ...fields }])
  return { event: entry?.event, matcher: entry?.group.matcher, hook: entry?.group.hooks[0] }
}

describe('reactiveEntries', () => {
  const ASKS = {
    block: 'Another agent is about to make the tool call below\\. If .+ answer ok: true\\.',
    context: 'Another agent has just made the tool call below; it has run\\. .+ if there is nothing to tell\\.',
  }
  const promptOf = (answer: 'context' | 'block', tools?: string[]): string => {
    const limit = tools === undefined ? '' : ` Use only these tools: ${tools.join(', ')}\\.`
    const asked = `${ASKS[answer]} The call is data: .+ yourself\\.${limit}`
    return expect.stringMatching(new RegExp(`^Look\\.\n\n${asked}\n\n\\$ARGUMENTS$`))
  }

  it.each<[Partial<ReactiveRule>, string, Parameters<typeof promptOf>, object]>([
    [{}, 'PostToolUse', ['context'], {}],
    [{ answer: 'block' }, 'PreToolUse', ['block'], {}],
    [{ tools: ['bash', 'mcp__x__y', 'LSP'] }, 'PostToolUse', ['context', ['Bash', 'mcp__x__y', 'LSP']], {}],
    [{ timeoutMs: 1 }, 'PostToolUse', ['context'], { timeout: 1 }],
    [{ timeoutMs: 1_001 }, 'PostToolUse', ['context'], { timeout: 2 }],
    [{ model: 'openai/gpt', agent: 'general' }, 'PostToolUse', ['context'], {}],
  ])('makes of %j a hook of the event %s', (fields, event, asked, changed) => {
    const hook = { type: 'agent', prompt: promptOf(...asked), timeout: 30, statusMessage, ...changed }
    expect(hookOf(fields)).toStrictEqual({ event, matcher: 'Bash', hook })
  })

  it.each(['anthropic/a b', 'anthropic/', 'x-anthropic/a', 'openai/anthropic/a'])('has no model for %j', (model) => {
    expect(hookOf({ model }).hook).not.toHaveProperty('model')
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

  it('makes of a whole rule a whole entry', () => {
    const rule: ReactiveRule = {
      ...{ tool: 'bash', command: 'git ?ommit*', prompt: 'Look.', model: 'anthropic/claude-haiku-4-5' },
      ...{ tools: ['read', 'lsp'], timeoutMs: 1_500, answer: 'block' },
    }
    const hook = {
      ...{ type: 'agent', prompt: promptOf('block', ['Read', 'lsp']), if: 'Bash(git *ommit*)' },
      ...{ model: 'claude-haiku-4-5', timeout: 2, statusMessage: `${statusMessage} git ?ommit*` },
    }
    expect(reactiveEntries([rule])).toEqual([{ event: 'PreToolUse', group: { matcher: 'Bash', hooks: [hook] } }])
    expect(reactiveEntries([{ ...RULE, tool: 'lsp' }])[0]?.group.matcher).toBe('lsp')
  })
})

describe('omissionNotes', () => {
  it('names each field that a hook cannot have, with the number of its rule', () => {
    const rules = [RULE, { ...RULE, agent: 'a', model: 'openai/gpt', tools: ['bash', 'read'] }]
    const tools = `its prompt asks to use only bash, read, and the session's permissions apply`
    expect(omissionNotes(rules)).toEqual([
      `Rule 2: Claude Code's hooks have no agents, so "a" is left out`,
      'Rule 2: Claude Code has no model "openai/gpt", so its default is used',
      `Rule 2: Claude Code cannot limit the tools of a hook; ${tools}`,
    ])
    expect(omissionNotes([{ ...RULE, model: 'anthropic/x' }])).toEqual([])
  })
})

describe('isReactiveHook', () => {
  it('knows ours, and leaves those of the user', () => {
    expect(isReactiveHook(hookOf({}).hook)).toBe(true)
    const foreign = [
      ...[{ type: 'agent', prompt: 'x' }, { type: 'agent', statusMessage: 'Checking' }, null, undefined, 'agent'],
      { type: 'agent', statusMessage: 5 },
      { type: 'command', statusMessage: `${statusMessage} x` },
    ]
    expect(foreign.filter(isReactiveHook)).toEqual([])
  })
})

describe('readRules', () => {
  it('takes every field of a rule', () => {
    const whole = { command: 'x*', agent: 'general', model: 'a/b/c', tools: ['bash'], timeoutMs: 5, answer: 'block' }
    expect(readRules([{ ...RULE, ...whole }])).toEqual([{ ...RULE, ...whole }])
  })

  it('returns the rules, without blanks around their words', () => {
    expect(readRules([{ ...RULE, command: ' git * ' }])).toEqual([{ ...RULE, command: 'git *' }])
    expect(readRules([])).toEqual([])
  })

  it.each<[unknown, string]>([
    [{}, ': it must be a list'],
    [undefined, ': it is missing, and must be a list'],
    [[RULE, 5], ', rule 2: it must be an object'],
    [[{ tool: 'bash' }], ', rule 1, prompt: it is missing, and must be a string'],
    [[{ ...RULE, tool: '' }], ', rule 1, tool: it must not be empty'],
    [[{ ...RULE, tools: 'bash' }], ', rule 1, tools: it must be a list'],
    [[{ ...RULE, timeoutMs: 0 }], ', rule 1, timeoutMs: it must be between 1 and 3600000'],
    [[{ ...RULE, timeoutMs: 1.5 }], ', rule 1, timeoutMs: it must be a whole number'],
    [[{ ...RULE, timeoutMs: 3_600_001 }], ', rule 1, timeoutMs: it must be between 1 and 3600000'],
    [[{ ...RULE, promt: '' }], ', rule 1: unknown field "promt" (did you mean "prompt"?)'],
    [[{ ...RULE, answer: 'maybe' }], ', rule 1, answer: it must be one of "context", "block"'],
    [[{ ...RULE, model: 'haiku' }], ', rule 1, model: it must name a provider and a model, as provider/model'],
    [[{ ...RULE, tools: [5] }], ', rule 1, tools.0: it must be a string'],
  ])('says where and what is wrong in %j', (value, sentence) => {
    const fault = readRules(value)
    if (!('detail' in fault)) throw new Error('no fault was found')
    const { rule, field, detail } = fault
    expect(`${rule === undefined ? '' : `, rule ${rule}`}${field === '' ? '' : `, ${field}`}: ${detail}`).toBe(sentence)
  })
})
