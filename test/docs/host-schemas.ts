/** JSON Schemas of what hosts' settings look like, as far as our pages show them. Unknown fields are faults. */

const EVENTS = ['SubagentStop', 'Stop', 'SessionStart', 'PostToolUse', 'PreToolUse', 'UserPromptSubmit', 'SessionEnd']

const TEXT = { type: 'string' }
const RULES = { type: 'array', items: TEXT }

const object = (properties: object, required: readonly string[] = []) => ({
  ...{ type: 'object', required, additionalProperties: false, properties },
})

const HOOK = object(
  {
    type: { enum: ['command', 'prompt', 'agent'] },
    command: TEXT,
    prompt: TEXT,
    timeout: { type: 'number' },
    if: TEXT,
  },
  ['type'],
)
const ENTRY = object({ matcher: TEXT, hooks: { type: 'array', minItems: 1, items: HOOK } }, ['hooks'])

export const CLAUDE_SETTINGS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    hooks: { type: 'object', propertyNames: { enum: EVENTS }, additionalProperties: { type: 'array', items: ENTRY } },
    permissions: object({ allow: RULES, ask: RULES, deny: RULES }),
    env: { type: 'object', additionalProperties: TEXT },
    statusLine: object(
      { type: { const: 'command' }, command: TEXT, padding: { type: 'number' }, refreshInterval: { type: 'number' } },
      ['type', 'command'],
    ),
  },
}

/** OpenCode's configuration. A plugin is an address, or an address with options. */
export const OPENCODE_CONFIG = {
  type: 'object',
  required: ['plugin'],
  properties: {
    plugin: {
      type: 'array',
      items: {
        anyOf: [
          { type: 'string' },
          { type: 'array', minItems: 2, maxItems: 2, prefixItems: [{ type: 'string' }, { type: 'object' }] },
        ],
      },
    },
  },
}

/** Options of our plugin for OpenCode, by which a block that shows them alone is recognized. */
export const PLUGIN_OPTIONS = [
  ...['chatHeaders', 'delegateTaskRetry', 'foregroundFallback', 'guard'],
  ...['jsonErrorRecovery', 'phaseReminder', 'postReadNudge', 'reactive'],
]
