import { describe } from 'vitest'
import { SYNTAX_TEXT } from '../../src/kernel/yaml-text.ts'
import { RULE_TEXT, SHAPE_TEXT } from '../../src/run/definition/definition-messages.ts'
import { itSays } from './sentences.ts'

describe('the broken rules of a definition', () => {
  itSays(RULE_TEXT, {
    id: [['a\nb', 'invalid id "a b": begin with a letter, then use letters, digits, "_" and "-"; "end" is reserved']],
    both: [['prompt', 'give prompt or prompt_file, not both']],
    needsSteps: [['parallel', 'parallel is allowed only in a phase with steps']],
    needsArtifact: [['next.verdict', 'next.verdict needs an artifact']],
    path: [
      [
        '../x',
        'invalid path "../x": it must be relative, with "/", without "..", and not a name that postflight-guard uses itself',
      ],
    ],
    pattern: [['/x', 'invalid pattern "/x": it must be relative to the root, with "/", without ".."']],
    tooManyCases: [[100, 'give at most 100 cases']],
    patternsTooWide: [
      [
        300,
        3,
        'the patterns must have at most 300 alternatives ({a,b}) in all, no ranges ({1..9}), and at most 3 stars that multiply: a "**", and a "*" after the first of its name (two of these)',
      ],
    ],
    promptPath: [
      [
        '../p.md',
        'invalid path "../p.md": the file must lie beside the definition or below it: relative, with "/", without ".."',
      ],
    ],
    tooManyInputs: [[20, 'at most 20 inputs are allowed']],
    inputName: [['a b', 'invalid name "a b": begin with a letter, then use letters, digits, "_" and "-"']],
    requiredDefault: [['name', 'the input "name" has a default, so it cannot be required']],
    caseLength: [[60, 'a case must have at most 60 characters']],
    stepText: [['agent', 'the agent of a step must be a string']],
    placeholder: [
      ['input.nam', '{{input.nam}} does not name an input of this workflow'],
      ['step.nam', "{{step.nam}} does not name a field of the phase's steps"],
      ['artifact:pln', '{{artifact:pln}} does not name a phase that has an artifact'],
      ['tsk', 'unknown placeholder {{tsk}} (did you mean {{task}}?)'],
      ['wholly else', 'unknown placeholder {{wholly else}}'],
    ],
    unknownKeyword: [
      [
        'typ',
        'unknown keyword "typ" (did you mean "type"?): the keywords are type, enum, const, properties, required, additionalProperties, items, minimum, maximum, minLength, maxLength, minItems, maxItems',
      ],
      [
        'somethingelse',
        'unknown keyword "somethingelse": the keywords are type, enum, const, properties, required, additionalProperties, items, minimum, maximum, minLength, maxLength, minItems, maxItems',
      ],
    ],
    valueKind: [
      ['type', 'types', 'type must be one of object, array, string, number, integer, boolean, null, or a list of them'],
      ['enum', 'values', 'enum must be a list of at most 200 values'],
      ['properties', 'schemas', 'properties must be an object of schemas'],
      ['required', 'names', 'required must be a list of names'],
      ['minimum', 'number', 'minimum must be a number'],
    ],
    notSchema: [[20, 'must be an object or a boolean, nested at most 20 levels deep']],
    target: [
      ['pla', ['plan', 'make'], 'unknown phase "pla" (did you mean "plan"?)'],
      ['review', ['plan', 'make'], 'unknown phase "review"'],
    ],
    twin: [['plan', 'another phase has the id "plan" (upper and lower case count as the same)']],
    twinArtifact: [['plan.md', 'another phase has the artifact "plan.md": its file would count as this phase\'s']],
    belowArtifact: [
      ['plan/a.md', 'plan', '"plan/a.md" would lie below "plan", which is a file: the artifact of another phase'],
    ],
    unreachable: [['plan', 'phase "plan" cannot be reached']],
    endless: [
      ['plan', 'no path leads from phase "plan" to "end": the run can only fail, when a phase has used up its visits'],
    ],
    backToChecklist: [
      [
        'work',
        'tasks.md',
        'leads back to phase "work", whose tasks are all ticked by then: this phase may add open tasks to "tasks.md"; if there are none, the visit has one step, the reason for the verdict',
      ],
    ],
    otherForm: [
      [
        'plän.md',
        'another phase has the artifact "plän.md" in another Unicode form: some file systems treat both names as one file',
      ],
    ],
    unmade: [['plan.md', 'no phase has the artifact "plan.md"']],
    unlisted: [
      [
        'plan.json',
        'the phase with the artifact "plan.json" has no check.json_schema: without a list of steps in the file, the run would stall at once',
      ],
    ],
    madeLater: [['plan.md', 'make', 'no phase before "make" has the artifact "plan.md"']],
    unbounded: [['plan', 'phase "plan" is on a loop without max_visits: 3 is assumed']],
    promptFile: [['p.md', 'no such file', 'p.md: no such file']],
    definitionTooLong: [[1, 'with its prompt files, the definition is larger than 1 MiB, the maximum for a run']],
    promptTooLong: [[65536, 'larger than 65536 bytes']],
  })
})

describe('the faults of the shape of a definition', () => {
  itSays(SHAPE_TEXT, {
    unknownField: [
      ['promt', ['prompt', 'steps'], 'unknown field "promt" (did you mean "prompt"?)'],
      ['xyzzy', ['prompt', 'steps'], 'unknown field "xyzzy"'],
    ],
    kinds: [
      [['string'], false, 'must be a string'],
      [['string'], true, 'is missing, and must be a string'],
      [
        ['array', 'int', 'object', 'record', 'string'],
        undefined,
        'must be a list or a whole number or an object or a string',
      ],
    ],
    oneOf: [[['strict', 'advisory'], 'must be one of "strict", "advisory"']],
    atLeast: [
      [1, 'string', 'must be at least 1 character long'],
      [2, 'array', 'must have at least 2 entries'],
      [3, 'int', 'must be at least 3'],
    ],
    atMost: [
      [200, 'string', 'must be at most 200 characters long'],
      [1, 'array', 'must have at most 1 entry'],
      [10, 'int', 'must be at most 10'],
    ],
  })
})

describe('the faults of the syntax of a definition', () => {
  itSays(SYNTAX_TEXT, {
    json: [
      ['CommaExpected', 'invalid JSON: comma expected'],
      ['InvalidSymbol', 'invalid JSON: invalid symbol (names and strings need double quotes)'],
    ],
    yaml: [
      ['Something else', 'Something else'],
      [
        'Nested mappings are not allowed in compact mappings',
        'Nested mappings are not allowed in compact mappings (a string that contains ": " needs quotes)',
      ],
      [
        'Plain value cannot start with reserved character @',
        'Plain value cannot start with reserved character @ (a string that begins with this character needs quotes)',
      ],
      [
        'A block scalar cannot be an empty string',
        'A block scalar cannot be an empty string (a string that begins with this character needs quotes)',
      ],
      [
        'Unexpected scalar at node end',
        'Unexpected scalar at node end (quote the whole string, with the kind of quote that it does not contain)',
      ],
      [
        'Missing , between flow collection items',
        'Missing , between flow collection items (check for a missing comma or quote before this)',
      ],
      [
        'Implicit keys need to be on a single line',
        'Implicit keys need to be on a single line (check for a missing ": " after the name of a field)',
      ],
      [
        'Flow sequence in block collection must be sufficiently indented',
        'Flow sequence in block collection must be sufficiently indented (check for a missing bracket or quote before this)',
      ],
      [
        'All mapping items must start at the same column',
        'All mapping items must start at the same column (entries of one list or object must begin at the same column)',
      ],
      [
        'A collection cannot be both a mapping and without - indicator',
        'A collection cannot be both a mapping and without - indicator (entries of one list or object must begin at the same column)',
      ],
      ['Tabs are not allowed as indentation', 'Tabs are not allowed as indentation (use spaces)'],
    ],
    openQuote: [['"', 'the string that begins here has no closing quote: end it with "']],
  })
})
