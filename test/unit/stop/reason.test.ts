import { describe, expect, it } from 'vitest'
import type { CommandForm } from '../../../src/kernel/command-line.ts'
import { DEFAULT_REASON, parseMarker, unparsed } from '../../../src/marker/marker.ts'
import { REASON_LIMIT } from '../../../src/stop/answer.ts'
import { type BlockedMarker, composeReason } from '../../../src/stop/reason.ts'
import { blocked, PATTERN_MARKER, PATTERN_MARKER_QUOTED } from '../builders.ts'

const ON_PATH: CommandForm = { onPath: true, byNpx: false, script: '/opt/postflight.js' }
const OFF_PATH: CommandForm = { onPath: false, byNpx: false, script: '/opt/my tools/postflight.js' }
const REPORT = /\n\nThen repeat your full report as your last message: your caller receives only that message\.$/

function reasonOf(items: readonly BlockedMarker[], form = ON_PATH, isSubagent = false): string {
  return composeReason(items, form, isSubagent)
}

const linesOf = (reason: string): string[] => reason.split('\n')

describe("the marker's own reason comes first, word for word", () => {
  it.each([
    ['quotes and backslashes', 'say "done" or \'done\' in C:\\new\\table \\" \\n'],
    ['newlines and tabs', 'first\n\n\tsecond\n  third'],
    ['emoji and other scripts', '✅ 提交 👩‍👩‍👧 übermorgen'],
    ['placeholders of shells and templates', '$(id) `id` $HOME %s $& $1 $$ {{x}}'],
  ])('%s', (_, reason) => {
    const text = reasonOf([blocked({ reason })])
    expect(text.startsWith(`${reason}\n${reason.includes('\n') ? '\n' : ''}Task 259_prove_completeness: `)).toBe(true)
  })

  it.each<[string, unknown, string]>([
    ['without control characters', '\u001b[2Jcommit\u0007\r\nthen \u009b31mpush\u0000', '[2Jcommit\nthen 31mpush\n'],
    ['without blank space around it', '\n  commit \n', 'commit'],
    ['whole, if control characters alone make it long', `com${'\u009b'.repeat(20_000)}mit`, 'commit'],
    ['after an empty line if it is a list', '- link\n- commit\n', '- link\n- commit\n'],
    ['by default, if it is missing', undefined, DEFAULT_REASON],
    ['by default, if it is no text', 5, DEFAULT_REASON],
    ['by default, if it is blank', ' \n ', DEFAULT_REASON],
    ['by default, if it is empty once it is clean', '\u0000\u0007', DEFAULT_REASON],
  ])('%s: %.30j', (_, reason, expected) => {
    expect(reasonOf([blocked({ reason })]).startsWith(`${expected}\nTask `)).toBe(true)
  })

  it('a long one is cut, but not the text after it', () => {
    const text = reasonOf([blocked({ reason: 'x'.repeat(60_000) })], OFF_PATH, true)
    expect(text).toHaveLength(REASON_LIMIT)
    expect(text).toMatch(/^x{3000,}…\nTask 259_prove_completeness: /)
    expect(text).toContain('clear the marker: postflight clear 259_prove_completeness\n')
    expect(text).toMatch(REPORT)
  })

  it('one that just fits is whole, and a longer one is cut', () => {
    const whole = 'x'.repeat(REASON_LIMIT - (reasonOf([blocked({ reason: 'x' })]).length - 1))
    expect(reasonOf([blocked({ reason: whole })])).toMatch(new RegExp(`^${whole}\nTask`))
    const more = reasonOf([blocked({ reason: `${whole}x` })])
    expect(more).toMatch(/^x+…\nTask/)
    expect(more).toHaveLength(REASON_LIMIT)
  })
})

describe('a marker that does not parse', () => {
  it.each([
    ['', 'is empty'],
    [PATTERN_MARKER_QUOTED, 'has "$session_id" in it: the heredoc was quoted, so its variables were not filled in'],
  ])('%j: the reason names the file and its problem', (text, problem) => {
    const [first] = linesOf(reasonOf([{ ...blocked(), marker: parseMarker(text) }]))
    expect(first).toContain(`${DEFAULT_REASON} (the marker specs/259_prove_completeness/.postflight-pending ${problem}`)
  })

  it('its parse error is cut, and without terminal escapes', () => {
    const text = reasonOf([{ ...blocked(), marker: parseMarker(`\u001b[2J${'x'.repeat(60_000)}`) }])
    expect(text).not.toContain('\u001b')
    expect(text.length).toBeLessThan(1000)
  })

  it('without a known problem counts as a marker without a reason', () => {
    const item = { ...blocked(), marker: { ...unparsed({ code: 'empty' }), problems: [] } }
    expect(reasonOf([item])).toMatch(/^Postflight operations pending\nTask /)
  })
})

describe('task, steps, commands and continuation', () => {
  it('the whole reason for the marker of the original pattern', () => {
    const item = { ...blocked(), marker: parseMarker(PATTERN_MARKER), count: 2 }
    expect(reasonOf([item])).toBe(
      [
        'Postflight pending: status update, artifact linking, git commit',
        'Task 259_prove_completeness: the postflight of its research (skill-lean-research) is still pending. Marker: specs/259_prove_completeness/.postflight-pending',
        'It has no owner, so it blocks any sub-agent. `postflight create` gives it one.',
        'When everything is done, clear the marker: postflight clear 259_prove_completeness',
        'Blocked stop 2 of 3. (After the third, you may stop.)',
      ].join('\n'),
    )
    expect(reasonOf([blocked({ cc_session_id: 'sess-a' })])).not.toContain('It has no owner')
  })

  it.each([
    [{ operation: 'work', skill: 'manual' }, ': its postflight is still pending.'],
    [{ operation: 'plan', skill: 'manual' }, ': the postflight of its plan is still pending.'],
    [{ operation: 'work', skill: 'lean' }, ': its postflight (lean) is still pending.'],
    [{ operation: ' plan\n\u001b[1m ', skill: '\u0000' }, ': the postflight of its plan [1m is still pending.'],
    [{ operation: 'o'.repeat(90), skill: 's'.repeat(90) }, `${'o'.repeat(79)}… (${'s'.repeat(79)}…) is`],
  ])('names operation and skill if somebody named them, in one line each: %.40j', (fields, expected) => {
    expect(linesOf(reasonOf([blocked({ reason: 'r', ...fields })]))[1]).toContain(expected)
  })

  it('begin after an empty line, also if the reason is a long list', () => {
    const long = reasonOf([blocked({ reason: '- x\n'.repeat(3000) })])
    expect(long).toMatch(/…\n\nTask /)
    expect(long.length).toBeLessThanOrEqual(4000)
  })

  it('the old global marker has the name of its folder, and `.` clears it', () => {
    const text = reasonOf([blocked({}, { task: '.', path: 'specs/.postflight-pending' })])
    expect(text).toMatch(/\nTask specs\/: .* Marker: specs\/\.postflight-pending\n.*: postflight clear \.\n/s)
  })

  it('every command has --root if the agent would not find the root (CPO#88, CC#50960)', () => {
    const text = reasonOf([blocked({ steps: ['a'] }, { root: '/my project' })], OFF_PATH)
    expect(text).toContain("postflight step 259_prove_completeness --root '/my project' <number>")
    expect(text).toContain("clear the marker: postflight clear 259_prove_completeness --root '/my project'\n")
    expect(text).toContain(
      "(where `postflight` is not on the PATH: node '/opt/my tools/postflight.js' clear 259_prove_completeness --root '/my project')",
    )
    expect(reasonOf([blocked({ steps: ['a'] })], OFF_PATH)).not.toContain('--root')
  })
})

describe('the checklist', () => {
  it('lists the remaining steps with their numbers in the whole list', () => {
    const steps = ['status', { name: 'link', done: true }, { name: 'git commit', done: false }]
    expect(linesOf(reasonOf([blocked({ steps })])).slice(2, 6)).toEqual([
      'Steps that remain:',
      '  1. status',
      '  3. git commit',
      'Tick each one when it is done: postflight step 259_prove_completeness <number>',
    ])
  })

  it('is left out if it is empty, or all steps are done', () => {
    for (const steps of [[], [{ name: 'a', done: true }]]) {
      expect(reasonOf([blocked({ steps })])).not.toMatch(/Steps that remain|postflight step/)
    }
  })

  it.each([
    [8, undefined],
    [9, '  and 1 more'],
    [100, '  and 92 more'],
  ])('of %i steps lists eight, and counts the rest', (count, rest) => {
    const steps = Array.from({ length: count }, (_, index) => `step ${index + 1}`)
    const lines = linesOf(reasonOf([blocked({ steps })]))
    expect(lines.slice(3, 11)).toEqual(steps.slice(0, 8).map((name, index) => `  ${index + 1}. ${name}`))
    expect(lines.filter((line) => line.startsWith('  and '))).toEqual(rest === undefined ? [] : [rest])
  })

  it('has a number for each of two steps of one name', () => {
    const text = reasonOf([blocked({ steps: ['test', { name: 'test', done: true }, 'test'] })])
    expect(text).toContain('  1. test\n  3. test\n')
  })

  it('has names on one line, cut, and without escapes', () => {
    expect(reasonOf([blocked({ steps: [`a\n\u001b[2Jb${'c'.repeat(500)}`] })])).toMatch(/\n {2}1\. a \[2Jbc{70,}…\n/)
  })
})

describe('a sub-agent is asked to repeat its report (CC#85917, OMC#3203)', () => {
  it('once at the end; main is not, because it has no caller', () => {
    const items = [blocked(), blocked()]
    expect(reasonOf(items, ON_PATH, true)).toMatch(REPORT)
    expect(reasonOf(items, ON_PATH, true).match(/full report/g)).toHaveLength(1)
    expect(reasonOf(items)).not.toContain('report')
  })

  it.each(['no marker of JSON', ''])('also if many markers do not parse (%j)', (text) => {
    const items = Array.from({ length: 60 }, (_, index) => ({
      ...blocked({}, { task: `${index}_${'t'.repeat(60)}` }),
      marker: parseMarker(text),
    }))
    for (let count = 1; count <= items.length; count++) {
      const reason = reasonOf(items.slice(0, count), OFF_PATH, true)
      expect(reason.length).toBeLessThanOrEqual(REASON_LIMIT)
      expect(reason).toMatch(REPORT)
      // The whole problem is named, however many markers share the answer.
      const described = reason.split('\nTask ').length - 1
      const problems = / \(the marker specs\/\d+_t{60}\/\.postflight-pending is (?:empty\)\n|not JSON \()/g
      expect(reason.match(problems)).toHaveLength(described)
    }
  })
})

describe('several markers', () => {
  const items = (count: number, fields: Readonly<Record<string, unknown>> = {}) =>
    Array.from({ length: count }, (_, index) =>
      blocked({ reason: `reason ${index + 1}`, ...fields }, { task: `${String(index + 1).padStart(3, '0')}_x` }),
    )

  it('are listed in their order, each with its own command, with blank lines between them', () => {
    const text = reasonOf(items(3))
    expect(text.split('\n\n').map((section) => linesOf(section)[0])).toEqual(['reason 1', 'reason 2', 'reason 3'])
    for (const task of ['001_x', '002_x', '003_x']) expect(text).toContain(`postflight clear ${task}\n`)
  })

  it('are counted if they do not fit', () => {
    const text = reasonOf(items(100), ON_PATH, true)
    const shown = text.match(/^Task \d+_x: /gm) ?? []
    expect(shown.length).toBeGreaterThan(5)
    expect(text).toContain(`\n\nYou have ${100 - shown.length} more pending markers: postflight inspect lists them.`)
  })

  it('share the room, even with one long reason', () => {
    const text = reasonOf([blocked({ reason: 'x'.repeat(60_000) }, { task: '000_x' }), ...items(2)])
    expect(text).toMatch(/^x{1000,}…\nTask 000_x.*\n\nreason 1\nTask 001_x.*\n\nreason 2\nTask 002_x/s)
    expect(text.length).toBeLessThanOrEqual(REASON_LIMIT)
  })

  it('leave room to count those that are not described', () => {
    const far = blocked({}, { root: `/${'d'.repeat(1500)}` })
    const text = reasonOf([blocked({ reason: 'x'.repeat(60_000) }), far], OFF_PATH)
    expect(text.length).toBeLessThanOrEqual(REASON_LIMIT)
    expect(text).toMatch(/^x{500,}…\nTask /)
    expect(text).toMatch(/\n\nYou have 1 more pending marker: postflight inspect --root \/d{1500} lists it\.$/)
  })

  it('keep the beginnings of their reasons if all are long', () => {
    const text = reasonOf(items(4, { reason: 'y'.repeat(60_000) }))
    expect(text.match(/y{80,}…\nTask/g)).toHaveLength(4)
    expect(text).toHaveLength(REASON_LIMIT)
  })
})

describe('long paths', () => {
  const root = `/${'d'.repeat(200)}`.repeat(10)
  const steps = Array.from({ length: 100 }, () => 's'.repeat(200))

  it('replace the explanations, but never the command', () => {
    const long = { ...OFF_PATH, script: `${root}/bin/postflight.js` }
    const text = reasonOf([blocked({ reason: 'r'.repeat(9000), steps }, { root })], long, true)
    expect(text.length).toBeLessThanOrEqual(REASON_LIMIT)
    expect(text).toMatch(/^r{80,}…\nTask /)
    expect(text).toContain(`clear the marker: postflight clear 259_prove_completeness --root ${root}\n`)
    expect(text).toContain('Blocked stop 1 of 3. (After the third, you may stop.)')
    expect(text).toMatch(REPORT)
    expect(linesOf(text)).toHaveLength(6)
  })

  it.each([
    ['alone', []],
    ['with another marker that can only be counted', [blocked({}, { root: `/${'d'.repeat(2000)}` })]],
  ])('replace the explanations only if they must, to the character: %s', (_, others) => {
    const lengths = Array.from({ length: 4000 }, (_, length) => {
      // Two commands grow with the root and one line with the path, which together makes every length.
      const near = `/${'d'.repeat(Math.floor(length / 2))}`
      const path = length % 2 === 0 ? 'p' : 'pp'
      const text = reasonOf([blocked({}, { root: near, path }), ...others], OFF_PATH, true)
      expect(text.length).toBeLessThanOrEqual(REASON_LIMIT)
      expect(text).toContain(`clear the marker: postflight clear 259_prove_completeness --root ${near}\n`)
      expect(text).toMatch(REPORT)
      return text.includes('(where `postflight` is not on the PATH') ? text.length : undefined
    })
    const change = lengths.indexOf(undefined)
    expect(lengths[change - 1]).toBe(REASON_LIMIT)
    expect(lengths.slice(change).every((length) => length === undefined)).toBe(true)
  })

  it('replace the explanations also to make room for counting the rest', () => {
    for (let length = 0; length < 3000; length += 1) {
      const far = blocked({ steps: ['a'] }, { root: `/${'d'.repeat(length)}` })
      const text = reasonOf([far, blocked()], OFF_PATH, true)
      expect(text.length).toBeLessThanOrEqual(REASON_LIMIT)
      expect((text.match(/^Task /gm) ?? []).length + (text.match(/^You have 1 more/gm) ?? []).length).toBe(2)
    }
  })

  it('are shown up to 240 characters', () => {
    const path = `specs/${'p'.repeat(200)}/.postflight-pending`
    expect(reasonOf([blocked({}, { path })])).toContain(`Marker: ${path}\n`)
  })

  it('never make the reason exceed the limit', () => {
    const text = reasonOf([blocked({}, { root: `/${"'".repeat(4000)}` })], OFF_PATH, true)
    expect(text.length).toBeLessThanOrEqual(REASON_LIMIT)
    expect(text).toMatch(/^Postflight operations pending\nTask /)
    expect(text).toMatch(REPORT)
  })
})

describe('the call of a tool that ends the turn', () => {
  const call = { ...blocked({}), endingTool: 'StructuredOutput', mayWait: true }
  const AGAIN = /\n\nThis call of StructuredOutput was refused\. Call it again, with your full answer, after that\.$/

  it.each([true, false])('is asked for again, in place of a report (sub-agent: %s)', (isSubagent) => {
    const text = reasonOf([call, call], ON_PATH, isSubagent)
    expect(text).toMatch(AGAIN)
    expect(text).not.toContain('full report')
  })

  it('offers wait, because what runs in the background is not known there', () => {
    expect(reasonOf([call])).toMatch(/\nIf you are waiting .*: postflight wait 259_prove_completeness --for "<what>"\n/)
    expect(reasonOf([{ ...call, mayWait: false }])).not.toContain('wait')
    expect(reasonOf([{ ...blocked({}), mayWait: true }])).not.toContain('wait')
  })
})

describe('shells in the background', () => {
  it('are named, and wait is offered; without any, neither is', () => {
    const text = reasonOf([{ ...blocked({}), shells: ['npm run "dev"', 'a\nb', 'c', 'd', 'e'], root: '/p' }])
    expect(text).toContain('\nRunning in the background: "npm run \'dev\'", "a b", "c" and 2 more. ')
    expect(text).toContain(': postflight wait 259_prove_completeness --root /p --for "<what>"\n')
    expect(reasonOf([{ ...blocked({}), shells: [] }])).not.toMatch(/background|wait/)
  })
})

describe('the checks of a marker', () => {
  const checksOf = (checks: readonly object[], more: object = {}): string[] => {
    const fields = { cc_session_id: 's1', checks_session: 's1', checks }
    const [, section = ''] = reasonOf([blocked(fields, more)]).split(/^These checks must succeed first.*\n/m)
    return linesOf(section.split('\nWhen everything')[0] ?? '')
  }

  it('are listed with their step and the end of the last failure, in whole lines', () => {
    const failed = { exit_code: 3, output: `\u001b[31m${'x'.repeat(400)}\n\nlast line\n` }
    const lint = { run: 'npm run lint', step: 'build' }
    expect(checksOf([{ run: 'npm test', failed }, lint])).toEqual([
      '  - npm test: failed the last time (exit code 3)',
      '  - npm run lint (step "build")',
      'The end of its output:',
      expect.stringMatching(/^ {2}\| \[31mx+…$/),
      '  | last line',
    ])
  })

  it('show the output of the first one that failed, from its last line back, in lines of 160 and at most 500 characters', () => {
    const outputOf = (output: string): string[] =>
      checksOf([{ run: 'npm run lint' }, { run: 'npm test', failed: { exit_code: 1, output } }]).slice(3)
    expect(outputOf('x'.repeat(161))).toEqual([`  | ${'x'.repeat(159)}…`])
    const lines = Array.from({ length: 12 }, (_, index) => String(index).padStart(47, '.'))
    // With its mark and its line break, each of these takes 50 characters.
    expect(outputOf(lines.join('\n'))).toEqual(lines.slice(2).map((line) => `  | ${line}`))
    expect(outputOf(`last${'\n'.repeat(300)}`)).toEqual(['  | last'])
  })

  it('say nothing of an output that is empty', () => {
    expect(checksOf([{ run: 'npm test', failed: { exit_code: 1, output: ' \n' } }])).toHaveLength(1)
  })

  it('that are many are counted', () => {
    const many = Array.from({ length: 30 }, (_, index) => ({ run: `check ${index}` }))
    expect(checksOf(many).at(-1)).toMatch(/^ {2}and \d+ more$/)
  })

  it('that run now are waited for', () => {
    const checkingSinceMs = Date.UTC(2026, 10, 22)
    const line = (mayWait: boolean) => checksOf([{ run: 'npm test' }], { checkingSinceMs, mayWait }).at(-1)
    expect(line(true)).toMatch(/^They have been running since 2026-11-22T00:00:00Z.*postflight wait 259.*--for/)
    expect(line(false)).toBe('They have been running since 2026-11-22T00:00:00Z. Wait for them to end.')
  })

  it.each([{ cc_session_id: 's1', checks_session: 's2' }, {}])('that another session wrote are not named', (fields) => {
    expect(reasonOf([blocked({ ...fields, checks: [{ run: 'npm test' }] })])).not.toContain('npm test')
  })
})
