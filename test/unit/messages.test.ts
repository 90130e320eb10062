import { describe, expect, it } from 'vitest'
import type { MarkerProblem } from '../../src/core/marker.ts'
import { RULE_SENTENCES } from '../../src/core/messages/commands.ts'
import { journalCut, markerProblem, unsearchable } from '../../src/core/messages/files.ts'
import {
  cappedNotice,
  REASON_TEXT,
  RECOVERY_TEXT,
  unreadableNotice,
  unsettledNotice,
} from '../../src/core/messages/stops.ts'
import { RULES } from '../../src/core/stop/rules.ts'

describe('what is wrong with a marker', () => {
  const PROBLEMS: [MarkerProblem, RegExp][] = [
    [{ code: 'empty' }, /^is empty$/],
    [{ code: 'too-large' }, /^is too large/],
    [{ code: 'not-object' }, /^is JSON, but no object$/],
    [{ code: 'not-json', detail: 'Unexpected token x' }, /^is no JSON \(Unexpected token x\)$/],
    [{ code: 'field', field: 'created', expected: 'an ISO 8601 time' }, /^has a created that is not an ISO 8601 time$/],
  ]
  it.each(PROBLEMS)('%j ends the sentence "the file …"', (problem, expected) => {
    expect(markerProblem(problem)).toMatch(expected)
  })

  it('a parse error that quotes a hostile file stays short and clean', () => {
    const text = markerProblem({ code: 'not-json', detail: `Unexpected \u001b[2J\n${'x'.repeat(9000)}` })
    expect(text).not.toMatch(/[\u0000-\u001f]/)
    expect(text.length).toBeLessThan(250)
  })
})

describe('rules', () => {
  it('every rule has its sentence, and no two the same', () => {
    expect(Object.keys(RULE_SENTENCES).sort()).toEqual(Object.keys(RULES).sort())
    expect(new Set(Object.values(RULE_SENTENCES)).size).toBe(Object.keys(RULES).length)
    for (const sentence of Object.values(RULE_SENTENCES)) expect(sentence).toMatch(/^\w.{20,}\w$/)
  })
})

describe('notices to the user', () => {
  it('a capped marker: which task, where the promise is kept, how to look', () => {
    const notice = cappedNotice('259_x', 'specs/259_x/.postflight-abandoned', 'postflight inspect 259_x')
    for (const part of ['postflight-guard', '259_x', 'specs/259_x/.postflight-abandoned', '`postflight inspect 259_x`'])
      expect(notice).toContain(part)
    expect(notice).toContain('3 continuations')
  })

  it('an unreadable marker: which file, why, and that the stop was allowed', () => {
    const notice = unreadableNotice('specs/259_x/.postflight-pending', 'EACCES')
    for (const part of ['specs/259_x/.postflight-pending', 'EACCES', 'allowed']) expect(notice).toContain(part)
  })

  it('a folder that nobody may look into: which one, why, and what that means', () => {
    expect(unsearchable('specs/259_x', 'EACCES')).toMatch(/^specs\/259_x .*EACCES.*nobody$/)
  })

  it('more markers than a stop has time for: how many, and how to look', () => {
    expect(unsettledNotice(49_000)).toMatch(/^postflight-guard: 49000 more markers .*`postflight inspect`/)
  })

  it('one marker more is one', () => {
    expect(unsettledNotice(1)).toMatch(/^postflight-guard: 1 more marker than a stop has time for: it holds nobody/)
  })

  it('a journal of which only the end was read: how much of it', () => {
    expect(journalCut(4 * 1024 * 1024)).toBe('the journal is very long: only its last 4 MiB were read')
  })

  it('both are one line, whatever a name holds', () => {
    const hostile = `\u001b[2J\n${'y'.repeat(5000)}`
    for (const notice of [cappedNotice(hostile, hostile, 'c'), unreadableNotice(hostile, hostile)]) {
      expect(notice).not.toMatch(/[\u0000-\u001f]/)
      expect(notice.length).toBeLessThan(700)
    }
  })
})

describe("pieces of a block's reason", () => {
  it.each([
    ['research', 'skill-x', 'Task 259_x: the postflight of its research (skill-x) is not done, says P.'],
    ['research', undefined, 'Task 259_x: the postflight of its research is not done, says P.'],
    [undefined, 'skill-x', 'Task 259_x: the postflight (skill-x) is not done, says P.'],
    [undefined, undefined, 'Task 259_x: the postflight is not done, says P.'],
  ])('operation %s and skill %s', (operation, skill, expected) => {
    expect(REASON_TEXT.where('259_x', 'P', operation, skill)).toBe(expected)
  })

  it.each([1, 2])('continuation %i of 3', (count) => {
    expect(REASON_TEXT.count(count)).toBe(`This is continuation ${count} of 3.`)
  })

  it('the third says what comes next', () => {
    expect(REASON_TEXT.count(3)).toMatch(/^This is continuation 3 of 3: the next stop goes through/)
  })

  it('a rest is counted', () => {
    expect(REASON_TEXT.moreSteps(4)).toContain('4 more')
    expect(REASON_TEXT.more(5, 'CMD')).toMatch(/5 more.*CMD/)
    expect(RECOVERY_TEXT.more(6)).toContain('6 more')
  })
})
