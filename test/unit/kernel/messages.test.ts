import { describe, expect, it } from 'vitest'
import { RULE_SENTENCES } from '../../../src/cli/commands/explain.ts'
import {
  FILE_DETAILS,
  inPlaceOfFolder,
  journalCut,
  SIZE_DETAILS,
  unsearchable,
  unwritable,
} from '../../../src/kernel/error-messages.ts'
import {
  counted,
  jsonFaultWords,
  listed,
  quote,
  quotedNames,
  unknownField,
  unparsedMarker,
} from '../../../src/kernel/text.ts'
import { markerProblem } from '../../../src/marker/check-messages.ts'
import type { MarkerProblem } from '../../../src/marker/marker.ts'
import { RULES } from '../../../src/stop/rules.ts'
import { cappedNotice, unreadableNotice } from '../../../src/stop/stop-messages.ts'
import { itSays } from '../sentences.ts'

describe('the problem of a marker', () => {
  it('is short and clean if a parse error quotes a hostile file', () => {
    const text = markerProblem({ code: 'not-json', detail: `Unexpected \u001b[2J\n${'x'.repeat(9000)}` })
    expect(text).not.toMatch(/[\u0000-\u001f]/)
    expect(text.length).toBeLessThan(250)
  })
})

describe('the rules', () => {
  it('have one sentence each, all different', () => {
    expect(Object.keys(RULE_SENTENCES).sort()).toEqual(Object.keys(RULES).sort())
    expect(new Set(Object.values(RULE_SENTENCES)).size).toBe(Object.keys(RULES).length)
    for (const sentence of Object.values(RULE_SENTENCES)) expect(sentence).toMatch(/^\w.{20,}\w$/)
  })
})

describe('the notices to the user', () => {
  it('are one line each, whatever the names', () => {
    const hostile = `\u001b[2J\n${'y'.repeat(5000)}`
    for (const notice of [cappedNotice(hostile, hostile, 'a', 'c'), unreadableNotice(hostile, hostile)]) {
      expect(notice).not.toMatch(/[\u0000-\u001f]/)
      expect(notice.length).toBeLessThan(700)
    }
  })
})

describe('names inside a sentence', () => {
  const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`)

  it.each([
    [names(1), '"n0"'],
    [names(2), '"n0", "n1"'],
    [names(8), '"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"'],
    [names(9), '"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7" and 1 other'],
    [names(40), '"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7" and 32 others'],
    [['a\nb\u001b[31m', 'x'.repeat(70)], `"a b[31m", "${'x'.repeat(59)}…"`],
  ])('%j', (given, expected) => {
    expect(quotedNames(given)).toBe(expected)
  })
})

describe('sentences about files, and parts of sentences', () => {
  const catalogue = { markerProblem, unknownField, unsearchable, unwritable, inPlaceOfFolder, journalCut }
  itSays(
    { ...FILE_DETAILS, ...SIZE_DETAILS, ...catalogue, quote, counted, listed, jsonFaultWords, unparsedMarker },
    {
      markerProblem: [
        ...(['empty', 'too-large', 'not-object'] as const).map((code): [MarkerProblem] => [{ code }]),
        [{ code: 'not-json', detail: 'Unexpected token x' }],
        [{ code: 'field', field: 'created', expected: 'time' }],
      ],
      unknownField: ['promt', 'xyzzy'].map((name): [string, string[]] => [name, ['prompt', 'steps']]),
      largerThan: [[65536]],
      behind: [['link']],
      outOfReach: [['EACCES']],
      kindOf: [['specs', 'pipe']],
      unsearchable: [['specs/7_x', 'EACCES']],
      unwritable: [['specs/7_x', 'EACCES']],
      inPlaceOfFolder: (['file', 'link', 'other'] as const).map((kind) => ['specs', kind] as const),
      journalCut: [[4194304]],
      quote: [
        ['a\nb\u001b[2J', 300],
        ['abcdef', 4],
      ],
      counted: [
        [1, 'phase'],
        [2, 'phase'],
        [0, 'entry', 'entries'],
      ],
      listed: [[[]], [['a']], [['a', 'b']], [['a', 'b', 'c'], 'or'], [[2, 5, 6]]],
      unparsedMarker: [[['is empty', 'is old']]],
      jsonFaultWords: [['CommaExpected'], ['InvalidEscapeCharacter']],
    },
  )
})
