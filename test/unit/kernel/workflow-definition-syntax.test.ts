/** The syntax of a definition: only the first fault is reported, where a person would look for it, with a hint. */

import { describe, expect, it } from 'vitest'
import { LineCounter, parseDocument } from 'yaml'
import { jsonFault, yamlFault } from '../../../src/kernel/yaml-text.ts'

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
  const MULTI_LINE = 'Implicit keys need to be on a single line (check for a missing ": " after the name of a field)'
  const INDENT = '(entries of one list or object must begin at the same column)'
  const QUOTE = '(quote the whole string, with the kind of quote that it does not contain)'
  const COMMA = '(check for a missing comma or quote before this)'
  const NO_END = 'Flow sequence in block collection must be sufficiently indented and end with a ]'
  const CHARACTER = '(a string that begins with this character needs quotes)'
  it.each([
    // Without the closing quote the parser reads on, here to the end of the file.
    ['    prompt: "x\n    artifact: y\n', '3:13 the string that begins here has no closing quote: end it with "'],
    ["    prompt: 'x\n    artifact: y\n", "3:13 the string that begins here has no closing quote: end it with '"],
    ['    steps: ["a", "b]\n', '3:18 the string that begins here has no closing quote: end it with "'],
    ['    prompt: Do {{step}}: now\n', `3:13 ${NO_MAP} (a string that contains ": " needs quotes)`],
    ['    prompt: @x\n', `3:13 Plain value cannot start with reserved character @ ${CHARACTER}`],
    ['    prompt: * x\n', `3:13 Alias cannot be an empty string ${CHARACTER}`],
    ['    prompt: "Say "hi" now"\n', `3:19 Unexpected scalar at node end ${QUOTE}`],
    ['    steps: ["a" "b"]\n', `3:17 Missing , or : between flow sequence items ${COMMA}`],
    ['    prompt x\n    artifact: y\n', `3:5 ${MULTI_LINE}`],
    ['    steps: [a, b\n  - id: b\n', `4:3 ${NO_END} (check for a missing bracket or quote before this)`],
    ['  prompt: x\n', `3:1 All mapping items must start at the same column ${INDENT}`],
    ['   prompt: x\n', `3:1 Sequence item without - indicator ${INDENT}`],
    ['\tprompt: x\n', '3:1 Tabs are not allowed as indentation (use spaces)'],
    // A clear fault has no hint.
    ['    id: b\n', '3:5 Map keys must be unique'],
    ['---\nname: y\n', '3:1 the file contains several documents: put each definition in its own file'],
    ['    prompt: "x"\n', undefined],
  ])('of these lines in a phase, %j: %s', (text, told) => {
    expect(ofYaml(`${PHASE}${text}`)).toBe(told)
  })

  it('can be a text that is nested too deeply', () => {
    expect(ofYaml('['.repeat(5000))).toMatch(/^1:\d+ nested too deeply to be read$/)
  })
})

describe('the first fault of JSON', () => {
  it.each([
    ['{"a": 1}', undefined],
    ['{"a": "x}', { offset: 6, detail: 'unexpected end of string (the string that begins here has no closing quote)' }],
    ['{"a": x"}', { offset: 6, detail: 'invalid symbol (names and strings need double quotes)' }],
    ['{"a": [1,]}', { offset: 9, detail: 'value expected (check for an extra comma before this)' }],
    ['{"a": 1,}', { offset: 8, detail: 'property name expected (check for an extra comma before this)' }],
    ['{"a": 1 // one\n}', { offset: 8, detail: 'invalid comment token (JSON does not allow comments; YAML does)' }],
    ['{"a": 1 "b": 2}', { offset: 8, detail: 'comma expected' }],
  ])('of %s', (text, fault) => {
    expect(jsonFault(text)).toEqual(fault && { ...fault, detail: `invalid JSON: ${fault.detail}` })
  })
})
