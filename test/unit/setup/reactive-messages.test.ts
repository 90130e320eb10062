import { REACTIVE_HOOK_TEXT, RULES_TEXT } from '../../../src/setup/reactive/reactive-rule.ts'
import { describeSentences, forms } from '../sentences.ts'

describeSentences("the texts of Claude Code's agent hooks", REACTIVE_HOOK_TEXT, {
  status: [['bash git\ncommit']],
  task: forms(['block', undefined], ['context', undefined], ['context', ['Bash', 'Read']]),
})

describeSentences('what is wrong with a file of rules', RULES_TEXT, {
  location: forms([undefined, ''], [2, ''], [2, 'tools.0']),
  kinds: forms([['string'], false], [['number'], false], [['int'], true]),
  values: [[['context', 'block']]],
  range: [[1, 3600000]],
  tool: [['lsp\n', ['bash', 'read']]],
})

describeSentences('the fields of a rule that are left out', RULES_TEXT.omitted, {
  agent: [[1, 'general']],
  model: [[2, 'openai/gpt']],
  tools: [[3, 'bash, read']],
})
