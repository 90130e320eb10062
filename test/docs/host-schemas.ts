/** JSON Schemas of what hosts' settings look like, as far as our pages show them. Unknown fields are faults. */

const EVENTS = ['SubagentStop', 'Stop', 'SessionStart', 'PostToolUse', 'PreToolUse', 'UserPromptSubmit', 'SessionEnd']

const HOOK = {
  type: 'object',
  required: ['type'],
  additionalProperties: false,
  properties: {
    type: { enum: ['command', 'prompt', 'agent'] },
    command: { type: 'string' },
    prompt: { type: 'string' },
    timeout: { type: 'number' },
    if: { type: 'string' },
  },
}

const ENTRY = {
  type: 'object',
  required: ['hooks'],
  additionalProperties: false,
  properties: { matcher: { type: 'string' }, hooks: { type: 'array', minItems: 1, items: HOOK } },
}

const RULES = { type: 'array', items: { type: 'string' } }

/** Claude Code's settings. */
export const CLAUDE_SETTINGS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    hooks: {
      type: 'object',
      propertyNames: { enum: EVENTS },
      additionalProperties: { type: 'array', items: ENTRY },
    },
    permissions: { type: 'object', additionalProperties: false, properties: { allow: RULES, ask: RULES, deny: RULES } },
    env: { type: 'object', additionalProperties: { type: 'string' } },
    statusLine: {
      type: 'object',
      required: ['type', 'command'],
      additionalProperties: false,
      properties: {
        type: { const: 'command' },
        command: { type: 'string' },
        padding: { type: 'number' },
        refreshInterval: { type: 'number' },
      },
    },
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
  'chatHeaders',
  'delegateTaskRetry',
  'foregroundFallback',
  'guard',
  'jsonErrorRecovery',
  'phaseReminder',
  'postReadNudge',
  'reactive',
]
