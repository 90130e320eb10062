import { describe } from 'vitest'
import { REACTIVE_HOOK_TEXT, RULES_TEXT } from '../../../src/setup/reactive/reactive-rule.ts'
import { itSays } from '../sentences.ts'

describe("the texts of Claude Code's agent hooks", () => {
  itSays(REACTIVE_HOOK_TEXT, {
    status: [['bash git\ncommit']],
    task: [
      ['block', undefined],
      ['context', undefined],
      ['context', ['Bash', 'Read']],
    ],
  })
})

describe('what is wrong with a file of rules', () => {
  itSays(RULES_TEXT, {
    location: [
      [undefined, ''],
      [2, ''],
      [2, 'tools.0'],
    ],
    kinds: [
      [['string'], false],
      [['number'], false],
      [['int'], true],
    ],
    values: [[['context', 'block']]],
    range: [[1, 3600000]],
    tool: [['lsp\n', ['bash', 'read']]],
  })
})

describe('the fields of a rule that are left out', () => {
  itSays(RULES_TEXT.omitted, {
    agent: [[1, 'general']],
    model: [[2, 'openai/gpt']],
    tools: [[3, 'bash, read']],
  })
})
