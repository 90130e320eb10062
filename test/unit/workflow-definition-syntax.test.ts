/** Syntax of a definition: the first fault alone, where a person would look for it, with what to do. */

import { describe, expect, it } from 'vitest'
import { LineCounter, parseDocument } from 'yaml'
import { jsonFault, yamlFault } from '../../src/core/workflow/definition-syntax.ts'

function ofYaml(text: string): string | undefined {
  const lineCounter = new LineCounter()
  const fault = yamlFault(parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'error' }))
  if (fault === undefined) return undefined
  const { line, col } = lineCounter.linePos(fault.offset)
  return `${line}:${col} ${fault.detail}`
}

describe('the first fault of YAML', () => {
  const PHASE = 'phases:\n  - id: a\n'
  const NO_MAP = 'Nested mappings are not allowed in compact mappings'
  const MULTI_LINE = 'Implicit keys need to be on a single line (is ": " missing after the name of a field?)'
  const INDENT = '(what belongs together begins at the same column)'
  const CHARACTER = '(a text that begins with this character needs quotes)'
  it.each([
    // Without the closing quote the parser reads on, here to the end of the file.
    ['    prompt: "x\n    artifact: y\n', '3:13 the text that begins here has no closing quote: end it with "'],
    ["    prompt: 'x\n    artifact: y\n", "3:13 the text that begins here has no closing quote: end it with '"],
    ['    steps: ["a", "b]\n', '3:18 the text that begins here has no closing quote: end it with "'],
    ['    prompt: Do {{step}}: now\n', `3:13 ${NO_MAP} (a text that holds ": " needs quotes)`],
    ['    prompt: @x\n', `3:13 Plain value cannot start with reserved character @ ${CHARACTER}`],
    ['    prompt: * x\n', `3:13 Alias cannot be an empty string ${CHARACTER}`],
    [
      '    prompt: "Say "hi" now"\n',
      '3:19 Unexpected scalar at node end (put quotes around the whole text, other ones than those in it)',
    ],
    [
      '    steps: ["a" "b"]\n',
      '3:17 Missing , or : between flow sequence items (is a comma or a quote missing before this?)',
    ],
    ['    prompt x\n    artifact: y\n', `3:5 ${MULTI_LINE}`],
    ['    prompt:x\n    artifact: y\n', `3:5 ${MULTI_LINE}`],
    [
      '    steps: [a, b\n  - id: b\n',
      '4:3 Flow sequence in block collection must be sufficiently indented and end with a ] (is a bracket or a quote not closed before this?)',
    ],
    ['  prompt: x\n', `3:1 All mapping items must start at the same column ${INDENT}`],
    ['   prompt: x\n', `3:1 Sequence item without - indicator ${INDENT}`],
    ['\tprompt: x\n', '3:1 Tabs are not allowed as indentation (use spaces)'],
    // Where the parser says enough, nothing is added.
    ['    id: b\n', '3:5 Map keys must be unique'],
    ['---\nname: y\n', '3:1 holds several documents: give each definition a file of its own'],
    ['    prompt: "x"\n', undefined],
  ])('after a phase that begins, of %j: %s', (text, told) => {
    expect(ofYaml(`${PHASE}${text}`)).toBe(told)
  })

  it('is that the text is nested too deeply', () => {
    expect(ofYaml('['.repeat(5000))).toMatch(/^1:\d+ nested too deeply to be read$/)
  })
})

describe('the first fault of JSON', () => {
  it.each([
    ['{"a": 1}', undefined],
    ['{"a": "x}', { offset: 6, detail: 'unexpected end of string (the text that begins here has no closing quote)' }],
    ['{"a": x"}', { offset: 6, detail: 'invalid symbol (names and texts need double quotes)' }],
    ['{"a": [1,]}', { offset: 9, detail: 'value expected (is there a comma too many before this?)' }],
    ['{"a": 1,}', { offset: 8, detail: 'property name expected (is there a comma too many before this?)' }],
    ['{"a": 1 // one\n}', { offset: 8, detail: 'invalid comment token (JSON has no comments; YAML has)' }],
    ['{"a": 1 "b": 2}', { offset: 8, detail: 'comma expected' }],
  ])('of %s', (text, fault) => {
    expect(jsonFault(text)).toEqual(fault && { ...fault, detail: `no JSON here: ${fault.detail}` })
  })
})
