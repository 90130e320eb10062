import { describe, expect, it } from 'vitest'
import { RULE_SENTENCES } from '../../../src/cli/commands/explain.ts'
import {
  FILE_DETAILS,
  inPlaceOfFolder,
  journalCut,
  unsearchable,
  unwritable,
} from '../../../src/kernel/error-messages.ts'
import { counted, jsonFaultWords, listed, quote, quotedNames, unknownField } from '../../../src/kernel/text.ts'
import { markerProblem } from '../../../src/marker/check-messages.ts'
import { RULES } from '../../../src/stop/rules.ts'
import { cappedNotice, unreadableNotice } from '../../../src/stop/stop-messages.ts'
import { itSays } from '../sentences.ts'

describe('the problem of a marker', () => {
  itSays(
    { markerProblem },
    {
      markerProblem: [
        [{ code: 'empty' }],
        [{ code: 'too-large' }],
        [{ code: 'not-object' }],
        [{ code: 'not-json', detail: 'Unexpected token x' }],
        [{ code: 'field', field: 'created', expected: 'time' }],
      ],
    },
  )

  it('is short and clean if a parse error quotes a hostile file', () => {
    const text = markerProblem({ code: 'not-json', detail: `Unexpected \u001b[2J\n${'x'.repeat(9000)}` })
    expect(text).not.toMatch(/[\u0000-\u001f]/)
    expect(text.length).toBeLessThan(250)
  })
})

describe('an unknown field', () => {
  itSays(
    { unknownField },
    {
      unknownField: [
        ['promt', ['prompt', 'steps']],
        ['xyzzy', ['prompt', 'steps']],
      ],
    },
  )
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

describe('why a file cannot be used', () => {
  itSays(FILE_DETAILS, {
    largerThan: [[65536]],
    behind: [['link']],
    outOfReach: [['EACCES']],
    kindOf: [['specs', 'pipe']],
  })
})

describe('sentences about files', () => {
  itSays(
    { unsearchable, unwritable, inPlaceOfFolder, journalCut },
    {
      unsearchable: [['specs/7_x', 'EACCES']],
      unwritable: [['specs/7_x', 'EACCES']],
      inPlaceOfFolder: [
        ['specs', 'file'],
        ['specs', 'link'],
        ['specs', 'other'],
      ],
      journalCut: [[4194304]],
    },
  )
})

describe('parts of sentences', () => {
  itSays(
    { quote, counted, listed, jsonFaultWords },
    {
      quote: [
        ['a\nb\u001b[2J', 300],
        ['abcdef', 4],
      ],
      counted: [
        [1, 'phase', undefined],
        [2, 'phase', undefined],
        [0, 'entry', 'entries'],
      ],
      listed: [
        [[], undefined],
        [['a'], undefined],
        [['a', 'b'], undefined],
        [['a', 'b', 'c'], 'or'],
        [[2, 5, 6], undefined],
      ],
      jsonFaultWords: [['CommaExpected'], ['InvalidEscapeCharacter']],
    },
  )
})
