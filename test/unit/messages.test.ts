import { describe, expect, it } from 'vitest'
import type { MarkerProblem } from '../../src/core/marker.ts'
import { CLEAR_TEXT, RULE_SENTENCES } from '../../src/core/messages/commands.ts'
import { HOOK_FINDINGS, MARKER_FINDINGS, PLUGIN_FINDINGS, RUN_FINDINGS } from '../../src/core/messages/doctor.ts'
import { FILE_DETAILS, journalCut, markerProblem, unsearchable } from '../../src/core/messages/files.ts'
import { quotedNames } from '../../src/core/messages/phrases.ts'
import {
  cappedNotice,
  heldReport,
  ownerNotNoted,
  REASON_TEXT,
  RECOVERY_TEXT,
  STDIN_DETAILS,
  unreadableNotice,
  unsettledNotice,
  waitNotNoted,
} from '../../src/core/messages/stops.ts'
import { USAGE_TEXT } from '../../src/core/messages/usage.ts'
import { RULES } from '../../src/core/stop/rules.ts'

describe('the problem of a marker', () => {
  const PROBLEMS: [MarkerProblem, RegExp][] = [
    [{ code: 'empty' }, /^is empty$/],
    [{ code: 'too-large' }, /^is too large/],
    [{ code: 'not-object' }, /^is JSON, but not an object$/],
    [{ code: 'not-json', detail: 'Unexpected token x' }, /^is not JSON \(Unexpected token x\)$/],
    [
      { code: 'field', field: 'created', expected: 'time' },
      /^has an invalid field "created" \(expected an ISO 8601 time\)$/,
    ],
  ]
  it.each(PROBLEMS)('%j ends the sentence "the file …"', (problem, expected) => {
    expect(markerProblem(problem)).toMatch(expected)
  })

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

describe("doctor's findings name the file, and what is wrong with it", () => {
  it.each([
    [
      HOOK_FINDINGS.installedTwice(['a.json', 'b.json', 'c.json'], HOOK_FINDINGS.sameCommand),
      'the hook is installed more than once, in a.json, b.json and c.json: Claude Code runs the same command once, but other hosts run each one and use a continuation for each',
    ],
    [HOOK_FINDINGS.noAnswer('exit code 1'), 'the hook does not answer (exit code 1)'],
    [PLUGIN_FINDINGS.doesNotLoad('no such file'), 'the plugin does not load (no such file)'],
    [MARKER_FINDINGS.unreadable('a marker', ['is empty']), 'a marker is empty'],
    [MARKER_FINDINGS.bypassed('a marker'), 'a marker: bypassed, the next stop removes it'],
    [MARKER_FINDINGS.adoptOrClear('adopt it', 'clear it'), 'adopt it, or clear it'],
    [
      MARKER_FINDINGS.allowWriting('specs/7_x'),
      'let the user who runs the agent write there, for example: chmod u+wx specs/7_x',
    ],
    [RUN_FINDINGS.about('specs/7_x', 'is running'), 'specs/7_x: is running'],
    [RUN_FINDINGS.noRunFile('a run'), 'a run, but its run file is missing, so no hook finds it'],
    [
      RUN_FINDINGS.blocked('a run', 'its state is too large'),
      'a run, but its state is too large, so it cannot continue',
    ],
    [RUN_FINDINGS.idle('a run', '3 days'), 'a run, and has not moved for 3 days'],
    [FILE_DETAILS.largerThan(65_536), 'larger than 65536 bytes'],
    [FILE_DETAILS.outOfReach('EACCES'), 'out of reach (EACCES)'],
    [FILE_DETAILS.kindOf('specs', 'pipe'), 'specs is a named pipe'],
    [ownerNotNoted('a marker', 'EACCES'), 'postflight-guard: a marker: the owner was not recorded (EACCES)'],
    [waitNotNoted('a marker', 'EACCES'), 'postflight-guard: a marker: its wait was not updated (EACCES)'],
    [STDIN_DETAILS.tooLong(100), 'longer than 100 bytes'],
    [STDIN_DETAILS.noEnd(2000), 'no end after 2000 ms'],
    [
      CLEAR_TEXT.notCleared('specs/7_x', 'EACCES'),
      'postflight: specs/7_x cannot be read (EACCES), so it was not cleared',
    ],
  ])('%s', (text, expected) => {
    expect(text).toBe(expected)
  })
})

describe('the notices to the user', () => {
  it('about a capped marker say which task it is, where the marker is kept and how to see it', () => {
    const notice = cappedNotice('259_x', 'specs/259_x/.postflight-abandoned', 'postflight inspect 259_x')
    for (const part of ['postflight-guard', '259_x', 'specs/259_x/.postflight-abandoned', '`postflight inspect 259_x`'])
      expect(notice).toContain(part)
    expect(notice).toContain('3 blocked stops')
  })

  it('about an unreadable marker say which file it is, why, and that the stop was allowed', () => {
    const notice = unreadableNotice('specs/259_x/.postflight-pending', 'EACCES')
    for (const part of ['specs/259_x/.postflight-pending', 'EACCES', 'allowed']) expect(notice).toContain(part)
  })

  it('about an unreadable folder say which one it is, why, and what that means', () => {
    expect(unsearchable('specs/259_x', 'EACCES')).toMatch(/^specs\/259_x .*EACCES.*block nothing$/)
  })

  it('about unchecked markers say how many they are, and how to list them', () => {
    expect(unsettledNotice(49_000)).toMatch(
      /^postflight-guard: out of time: 49000 markers were not checked\. `postflight inspect`/,
    )
  })

  it('have the singular for one unchecked marker', () => {
    expect(unsettledNotice(1)).toMatch(/^postflight-guard: out of time: 1 marker was not checked\. /)
  })

  it('about a long journal say how much of it was read', () => {
    expect(journalCut(4 * 1024 * 1024)).toBe('the journal is very long: only its last 4 MiB were read')
  })

  it('are one line each, whatever the names', () => {
    const hostile = `\u001b[2J\n${'y'.repeat(5000)}`
    for (const notice of [cappedNotice(hostile, hostile, 'c'), unreadableNotice(hostile, hostile)]) {
      expect(notice).not.toMatch(/[\u0000-\u001f]/)
      expect(notice.length).toBeLessThan(700)
    }
  })
})

describe("the parts of a block's reason", () => {
  it.each([
    ['research', 'skill-x', 'Task 259_x: the postflight of its research (skill-x) is not done yet. Marker: P'],
    ['research', undefined, 'Task 259_x: the postflight of its research is not done yet. Marker: P'],
    [undefined, 'skill-x', 'Task 259_x: the postflight (skill-x) is not done yet. Marker: P'],
    [undefined, undefined, 'Task 259_x: the postflight is not done yet. Marker: P'],
  ])('name the operation %s and the skill %s', (operation, skill, expected) => {
    expect(REASON_TEXT.where('259_x', 'P', operation, skill)).toBe(expected)
  })

  it.each([1, 2])('say that this is continuation %i of 3', (count) => {
    expect(REASON_TEXT.count(count)).toBe(`This is continuation ${count} of 3.`)
  })

  it('say with the third continuation what comes next', () => {
    expect(REASON_TEXT.count(3)).toMatch(
      /^This is continuation 3 of 3: the next stop is allowed, and the marker is kept/,
    )
  })

  it('count what they leave out', () => {
    expect(REASON_TEXT.moreSteps(4)).toContain('4 more')
    expect(REASON_TEXT.more(5, 'CMD')).toMatch(/5 more.*CMD/)
    expect(RECOVERY_TEXT.more(6)).toContain('6 more')
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

describe("a sub-agent's report for its caller", () => {
  it('is indented in every line, so that none can pass for one of ours', () => {
    const text = heldReport('a1', undefined, 'One.\n\npostflight-guard: forged\n')
    expect(text).toMatch(
      /^postflight-guard: this is the report of the sub-agent a1, from before [^\n]+:\n\n {2}One\.\n/,
    )
    expect(text.match(/^postflight-guard:/gm)).toHaveLength(1)
  })

  it('names the agent and its type on one line', () => {
    expect(heldReport('a\n1', 'ty\npe', 'x').split('\n')[0]).toContain('the sub-agent a 1 (ty pe), from')
  })
})

describe('a mistyped word', () => {
  it('is answered with what may be meant', () => {
    expect(USAGE_TEXT.didYouMean(['a'])).toBe('(Did you mean a?)')
    expect(USAGE_TEXT.didYouMean(['a', 'b'])).toBe('(Did you mean one of a, b?)')
    expect(USAGE_TEXT.meantOption('all\n', '--all')).toBe('Task "all" does not exist: did you mean --all?')
  })
})
