import { SYNTAX_TEXT } from '../../../src/kernel/yaml-text.ts'
import { RULE_TEXT, SHAPE_TEXT } from '../../../src/run/definition/definition-messages.ts'
import { describeSentences, forms } from '../sentences.ts'

describeSentences('the broken rules of a definition', RULE_TEXT, {
  id: [['a\nb']],
  both: [['prompt']],
  needsSteps: [['parallel']],
  needsArtifact: [['next.verdict']],
  path: [['../x']],
  pattern: [['/x']],
  tooManyCases: [[100]],
  patternsTooWide: [[300, 3]],
  promptPath: [['../p.md']],
  tooManyInputs: [[20]],
  inputName: [['a b']],
  requiredDefault: [['name']],
  caseLength: [[60]],
  stepText: [['agent']],
  placeholder: [['input.nam'], ['step.nam'], ['artifact:pln'], ['tsk'], ['wholly else']],
  unknownKeyword: [['typ'], ['somethingelse']],
  valueKind: forms(['a', 'types'], ['a', 'values'], ['a', 'schemas'], ['a', 'names'], ['a', 'number']),
  notSchema: [[20]],
  target: forms(['pla', ['plan', 'make']], ['review', ['plan', 'make']]),
  twin: [['plan']],
  twinArtifact: [['plan.md']],
  belowArtifact: [['plan/a.md', 'plan']],
  unreachable: [['plan']],
  endless: [['plan']],
  backToChecklist: [['work', 'tasks.md']],
  otherForm: [['plän.md']],
  unmade: [['plan.md']],
  unlisted: [['plan.json']],
  madeLater: [['plan.md', 'make']],
  unbounded: [['plan']],
  promptFile: [['p.md', 'no such file']],
  definitionTooLong: [[1]],
  promptTooLong: [[65536]],
})

describeSentences('the faults of the shape of a definition', SHAPE_TEXT, {
  kinds: forms([['string'], false], [['string'], true], [['array', 'int', 'object', 'record', 'string'], false]),
  values: [[['strict', 'advisory']]],
  atLeast: forms([1, 'string'], [2, 'array'], [3, 'int']),
  atMost: forms([200, 'string'], [1, 'array'], [10, 'int']),
})

describeSentences('the faults of the syntax of a definition', SYNTAX_TEXT, {
  json: [['CommaExpected'], ['InvalidSymbol']],
  yaml: forms(
    ['Something else'],
    ['Nested mappings are not allowed in compact mappings'],
    ['Plain value cannot start with reserved character @'],
    ['A block scalar cannot be an empty string'],
    ['Unexpected scalar at node end'],
    ['Missing , between flow collection items'],
    ['Implicit keys need to be on a single line'],
    ['Flow sequence in block collection must be sufficiently indented'],
    ['All mapping items must start at the same column'],
    ['A collection cannot be both a mapping and without - indicator'],
    ['Tabs are not allowed as indentation'],
  ),
  openQuote: [['"']],
})
