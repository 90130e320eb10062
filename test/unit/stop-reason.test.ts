import { describe, expect, it } from 'vitest'
import { REASON_LIMIT } from '../../src/core/answer.ts'
import type { CommandForm } from '../../src/core/command-line.ts'
import { parseMarker, unparsed } from '../../src/core/marker.ts'
import { composeReason } from '../../src/core/stop/reason.ts'
import { blocked, SEED_MARKER, SEED_MARKER_QUOTED } from './builders.ts'

const ON_PATH: CommandForm = { onPath: true, script: '/opt/postflight.js' }
const OFF_PATH: CommandForm = { onPath: false, script: '/opt/my tools/postflight.js' }
const REPORT = /\n\nThen repeat your full report as your last message: your caller receives only the last one\.$/

const linesOf = (reason: string): string[] => reason.split('\n')

describe("the marker's own reason comes first, word for word", () => {
  it.each([
    ['plain', 'Postflight pending: status update, artifact linking, git commit'],
    ['quotes', `say "done" or 'done' or \`done\``],
    ['backslashes', 'C:\\new\\table \\" \\n'],
    ['newlines and tabs', 'first\n\n\tsecond\n  third'],
    ['emoji and other scripts', '✅ 提交 👩‍👩‍👧 übermorgen'],
    ['what a shell would run', '$(id) `id` $HOME %s %d'],
    ['what a template would fill in', '$& $1 $$ {{x}}'],
    ['JSON', '{"decision":"approve"}'],
  ])('%s', (_, reason) => {
    const text = composeReason([blocked({ reason })], ON_PATH, false)
    expect(text.startsWith(`${reason}\nTask 259_prove_completeness: `)).toBe(true)
  })

  it('without control characters', () => {
    const text = composeReason(
      [blocked({ reason: '\u001b[2Jcommit\u0007\r\nthen \u009b31mpush\u0000' })],
      ON_PATH,
      false,
    )
    expect(text.startsWith('[2Jcommit\nthen 31mpush\nTask ')).toBe(true)
  })

  it('without blank space around it', () => {
    expect(composeReason([blocked({ reason: '\n  commit \n' })], ON_PATH, false)).toMatch(/^commit\nTask /)
  })

  it.each([undefined, '', null, 5, ' \n ', '\u0000\u0007'])('a missing one (%j) reads as the default', (reason) => {
    expect(composeReason([blocked({ reason })], ON_PATH, false)).toMatch(/^Postflight operations pending\nTask /)
  })

  it('a long one is cut, what follows is not', () => {
    const text = composeReason([blocked({ reason: 'x'.repeat(60_000) })], OFF_PATH, true)
    expect(text).toHaveLength(REASON_LIMIT)
    expect(text).toMatch(/^x{3000,}…\nTask 259_prove_completeness: /)
    expect(text).toContain('clear the marker: postflight clear 259_prove_completeness\n')
    expect(text).toMatch(REPORT)
  })

  it('a long one of control characters costs no room', () => {
    const reason = `com${'\u009b'.repeat(20_000)}mit`
    expect(composeReason([blocked({ reason })], ON_PATH, false)).toMatch(/^commit\nTask /)
  })

  it('one that fits to the unit is whole, and one more is cut', () => {
    const overhead = composeReason([blocked({ reason: 'x' })], ON_PATH, false).length - 1
    const whole = 'x'.repeat(REASON_LIMIT - overhead)
    expect(composeReason([blocked({ reason: whole })], ON_PATH, false)).toMatch(new RegExp(`^${whole}\nTask`))
    const more = composeReason([blocked({ reason: `${whole}x` })], ON_PATH, false)
    expect(more).toMatch(/^x+…\nTask/)
    expect(more).toHaveLength(REASON_LIMIT)
  })
})

describe('a marker that does not parse', () => {
  it.each([
    ['', 'is empty'],
    ['sess_1736700000_abc123', 'is no JSON ('],
    [SEED_MARKER_QUOTED, 'is no JSON ('],
    ['[]', 'is JSON, but no object'],
  ])('%j: the reason names the file and what is wrong', (text, problem) => {
    const item = { ...blocked(), marker: parseMarker(text) }
    const [first] = linesOf(composeReason([item], ON_PATH, false))
    expect(first).toContain(
      `Postflight operations pending (the marker specs/259_prove_completeness/.postflight-pending ${problem}`,
    )
  })

  it('its parse error cannot carry a terminal escape or a flood', () => {
    const item = { ...blocked(), marker: parseMarker(`\u001b[2J${'x'.repeat(60_000)}`) }
    const text = composeReason([item], ON_PATH, false)
    expect(text).not.toContain('\u001b')
    expect(text.length).toBeLessThan(1000)
  })

  it('without a known problem is a marker without a reason', () => {
    const item = { ...blocked(), marker: { ...unparsed({ code: 'empty' }), problems: [] } }
    expect(composeReason([item], ON_PATH, false)).toMatch(/^Postflight operations pending\nTask /)
  })

  it('one wrong field hides neither reason nor anything else', () => {
    expect(composeReason([blocked({ reason: 'commit', created: 5 })], ON_PATH, false)).toMatch(/^commit\nTask /)
  })
})

describe('which task, which steps, which command, which continuation', () => {
  it("the seed's marker, whole", () => {
    const item = { ...blocked(), marker: parseMarker(SEED_MARKER), count: 2 }
    expect(composeReason([item], ON_PATH, false)).toBe(
      [
        'Postflight pending: status update, artifact linking, git commit',
        'Task 259_prove_completeness: the postflight of its research (skill-lean-research) is not done, says specs/259_prove_completeness/.postflight-pending.',
        'When everything is done, clear the marker: postflight clear 259_prove_completeness',
        'This is continuation 2 of 3.',
      ].join('\n'),
    )
  })

  it('operation and skill are one line each, and left out when nothing of them is left', () => {
    const text = composeReason([blocked({ operation: ' plan\n\u001b[1m ', skill: '\u0000' })], ON_PATH, false)
    expect(text).toContain('the postflight of its plan [1m is not done')
    const long = composeReason([blocked({ operation: 'o'.repeat(9000), skill: 's'.repeat(9000) })], ON_PATH, false)
    expect(long.length).toBeLessThan(600)
  })

  it('the old global marker is called by its folder, and cleared by a dot', () => {
    const text = composeReason([blocked({}, { task: '.', path: 'specs/.postflight-pending' })], ON_PATH, false)
    expect(text).toContain('Task specs/: the postflight is not done, says specs/.postflight-pending.')
    expect(text).toContain('clear the marker: postflight clear .\n')
  })

  it('the root is named in every command where the agent would not find it (CPO#88, CC#50960)', () => {
    const text = composeReason([blocked({ steps: ['a'] }, { root: '/my project' })], OFF_PATH, false)
    expect(text).toContain("postflight step 259_prove_completeness --root '/my project' <number>")
    expect(text).toContain("clear the marker: postflight clear 259_prove_completeness --root '/my project'\n")
    expect(text).toContain(
      "(where `postflight` is not on the PATH: node '/opt/my tools/postflight.js' clear 259_prove_completeness --root '/my project')",
    )
    expect(composeReason([blocked({ steps: ['a'] })], OFF_PATH, false)).not.toContain('--root')
  })

  it('the way without `postflight` on the PATH is told only where it is not', () => {
    expect(composeReason([blocked()], OFF_PATH, false)).toContain("node '/opt/my tools/postflight.js' clear")
    expect(composeReason([blocked()], ON_PATH, false)).not.toContain('node ')
  })

  it('a task with a space or a quote is quoted in the command', () => {
    const text = composeReason([blocked({}, { task: "259_it's mine" })], ON_PATH, false)
    expect(text).toContain("postflight clear '259_it'\\''s mine'\n")
  })

  it.each([1, 2, 3])('continuation %i of 3', (count) => {
    expect(composeReason([blocked({}, { count })], ON_PATH, false)).toContain(`This is continuation ${count} of 3`)
  })
})

describe('the checklist', () => {
  it('lists what remains by its number in the whole list', () => {
    const steps = ['status', { name: 'link', done: true }, { name: 'git commit', done: false }]
    expect(linesOf(composeReason([blocked({ steps })], ON_PATH, false)).slice(2, 6)).toEqual([
      'Steps that remain:',
      '  1. status',
      '  3. git commit',
      'Tick each one when it is done: postflight step 259_prove_completeness <number>',
    ])
  })

  it('is left out when there is none, or all is done', () => {
    for (const steps of [[], [{ name: 'a', done: true }]]) {
      expect(composeReason([blocked({ steps })], ON_PATH, false)).not.toMatch(/Steps that remain|postflight step/)
    }
  })

  it.each([
    [8, undefined],
    [9, '  and 1 more'],
    [100, '  and 92 more'],
  ])('%i steps: eight are listed, the rest is counted', (count, rest) => {
    const steps = Array.from({ length: count }, (_, index) => `step ${index + 1}`)
    const lines = linesOf(composeReason([blocked({ steps })], ON_PATH, false))
    expect(lines.slice(3, 11)).toEqual(steps.slice(0, 8).map((name, index) => `  ${index + 1}. ${name}`))
    expect(lines.filter((line) => line.startsWith('  and '))).toEqual(rest === undefined ? [] : [rest])
  })

  it('two steps of one name have each its number', () => {
    const text = composeReason([blocked({ steps: ['test', { name: 'test', done: true }, 'test'] })], ON_PATH, false)
    expect(text).toContain('  1. test\n  3. test\n')
  })

  it('a name is one line, without escapes, and bounded', () => {
    const text = composeReason([blocked({ steps: [`a\n\u001b[2Jb${'c'.repeat(500)}`] })], ON_PATH, false)
    expect(text).toMatch(/\n {2}1\. a \[2Jbc{70,}…\n/)
  })
})

describe('a sub-agent is told to repeat its report (CC#85917, OMC#3203)', () => {
  it('last', () => {
    expect(composeReason([blocked()], ON_PATH, true)).toMatch(REPORT)
    expect(composeReason([blocked(), blocked()], ON_PATH, true).match(/full report/g)).toHaveLength(1)
  })

  it('main is not: it has no caller', () => {
    expect(composeReason([blocked()], ON_PATH, false)).not.toContain('report')
  })

  it.each(['no marker of JSON', ''])('also where many markers do not parse (%j)', (text) => {
    const items = Array.from({ length: 60 }, (_, index) => ({
      ...blocked({}, { task: `${index}_${'t'.repeat(60)}` }),
      marker: parseMarker(text),
    }))
    for (let count = 1; count <= items.length; count++) {
      const reason = composeReason(items.slice(0, count), OFF_PATH, true)
      expect(reason.length).toBeLessThanOrEqual(REASON_LIMIT)
      expect(reason).toMatch(REPORT)
      // What is wrong is said whole, however many share the answer.
      const described = reason.split('\nTask ').length - 1
      const problems = / \(the marker specs\/\d+_t{60}\/\.postflight-pending is (?:empty\)\n|no JSON \()/g
      expect(reason.match(problems)).toHaveLength(described)
    }
  })
})

describe('several markers', () => {
  const items = (count: number, fields: Readonly<Record<string, unknown>> = {}) =>
    Array.from({ length: count }, (_, index) =>
      blocked({ reason: `reason ${index + 1}`, ...fields }, { task: `${String(index + 1).padStart(3, '0')}_x` }),
    )

  it('are listed in the order given, each with its own command, a blank line between', () => {
    const text = composeReason(items(3), ON_PATH, false)
    expect(text.split('\n\n').map((section) => linesOf(section)[0])).toEqual(['reason 1', 'reason 2', 'reason 3'])
    for (const task of ['001_x', '002_x', '003_x']) expect(text).toContain(`postflight clear ${task}\n`)
  })

  it('more than there is room for are counted', () => {
    const text = composeReason(items(100), ON_PATH, true)
    const shown = text.match(/^Task \d+_x: /gm) ?? []
    expect(shown.length).toBeGreaterThan(5)
    expect(shown.map((line) => line.slice(5, 8))).toEqual(shown.map((_, index) => String(index + 1).padStart(3, '0')))
    expect(text).toContain(
      `\n\nAnd ${100 - shown.length} more pending markers of yours: postflight inspect lists them.`,
    )
    expect(text.length).toBeLessThanOrEqual(REASON_LIMIT)
    expect(text).toMatch(REPORT)
  })

  it('every one is either described or counted, however many there are', () => {
    for (let count = 1; count <= 40; count++) {
      const text = composeReason(items(count), ON_PATH, true)
      const shown = text.match(/^Task \d+_x: /gm)?.length ?? 0
      const counted = Number(/^And (\d+) more pending markers? of yours/m.exec(text)?.[1] ?? 0)
      expect(shown + counted).toBe(count)
    }
  })

  it('a rest of one is said so', () => {
    const far = blocked({ steps: ['a'] }, { root: `/${'d'.repeat(3200)}` })
    const text = composeReason([blocked(), far], ON_PATH, false)
    expect(text).toMatch(/\n\nAnd 1 more pending marker of yours: postflight inspect --root \/d+ lists it\.$/)
  })

  it('a long reason leaves the others their share', () => {
    const [first, second] = items(2)
    const greedy = blocked({ reason: 'x'.repeat(60_000) }, { task: '000_x' })
    const text = composeReason([greedy, first as never, second as never], ON_PATH, false)
    expect(text).toMatch(/^x{1000,}…\nTask 000_x/)
    expect(text).toContain('\n\nreason 1\nTask 001_x')
    expect(text).toContain('\n\nreason 2\nTask 002_x')
    expect(text.length).toBeLessThanOrEqual(REASON_LIMIT)
  })

  it('a long reason leaves room to count what cannot be described', () => {
    const far = blocked({}, { root: `/${'d'.repeat(1500)}` })
    const text = composeReason([blocked({ reason: 'x'.repeat(60_000) }), far], OFF_PATH, false)
    expect(text.length).toBeLessThanOrEqual(REASON_LIMIT)
    expect(text).toMatch(/^x{500,}…\nTask /)
    expect(text).toMatch(/\n\nAnd 1 more pending marker of yours: postflight inspect --root \/d{1500} lists it\.$/)
  })

  it('when all are long, each keeps the beginning of its reason', () => {
    const text = composeReason(items(4, { reason: 'y'.repeat(60_000) }), ON_PATH, false)
    expect(text.match(/y{80,}…\nTask/g)).toHaveLength(4)
  })

  it('of several roots: each command names its own', () => {
    const text = composeReason(
      [blocked({}, { task: '001_x' }), blocked({}, { task: '001_x', root: '/worktree' })],
      ON_PATH,
      false,
    )
    expect(text).toContain('postflight clear 001_x\n')
    expect(text).toContain('postflight clear 001_x --root /worktree\n')
  })
})

describe('long paths', () => {
  const root = `/${'d'.repeat(200)}`.repeat(10)
  const steps = Array.from({ length: 100 }, () => 's'.repeat(200))

  it('what explains gives way to the command, which is never cut', () => {
    const long = { ...OFF_PATH, script: `${root}/bin/postflight.js` }
    const text = composeReason([blocked({ reason: 'r'.repeat(9000), steps }, { root })], long, true)
    expect(text.length).toBeLessThanOrEqual(REASON_LIMIT)
    expect(text).toMatch(/^r{80,}…\nTask /)
    expect(text).toContain(`clear the marker: postflight clear 259_prove_completeness --root ${root}\n`)
    expect(text).toContain('This is continuation 1 of 3.')
    expect(text).toMatch(REPORT)
    expect(linesOf(text)).toHaveLength(6)
  })

  it.each([
    ['alone', []],
    ['beside one that can only be counted', [blocked({}, { root: `/${'d'.repeat(2000)}` })]],
  ])('what explains goes only when it must, to the character: %s', (_, others) => {
    const lengths = Array.from({ length: 4000 }, (_, length) => {
      // Two commands grow with the root, one line with the path: together they make every length.
      const near = `/${'d'.repeat(Math.floor(length / 2))}`
      const path = length % 2 === 0 ? 'p' : 'pp'
      const text = composeReason([blocked({}, { root: near, path }), ...others], OFF_PATH, true)
      expect(text.length).toBeLessThanOrEqual(REASON_LIMIT)
      expect(text).toContain(`clear the marker: postflight clear 259_prove_completeness --root ${near}\n`)
      expect(text).toMatch(REPORT)
      return text.includes('(where `postflight` is not on the PATH') ? text.length : undefined
    })
    const change = lengths.indexOf(undefined)
    expect(lengths[change - 1]).toBe(REASON_LIMIT)
    expect(lengths.slice(change).every((length) => length === undefined)).toBe(true)
  })

  it('what explains goes too, when the rest could not be counted beside it', () => {
    for (let length = 0; length < 3000; length += 1) {
      const far = blocked({ steps: ['a'] }, { root: `/${'d'.repeat(length)}` })
      const text = composeReason([far, blocked()], OFF_PATH, true)
      expect(text.length).toBeLessThanOrEqual(REASON_LIMIT)
      expect((text.match(/^Task /gm) ?? []).length + (text.match(/^And 1 more/gm) ?? []).length).toBe(2)
    }
  })

  it('the path of a marker is shown to 240 characters', () => {
    const path = `specs/${'p'.repeat(200)}/.postflight-pending`
    expect(composeReason([blocked({}, { path })], ON_PATH, false)).toContain(`says ${path}.`)
  })

  it('a path that leaves room for nothing else still gives a text within the limit', () => {
    const text = composeReason([blocked({}, { root: `/${"'".repeat(4000)}` })], OFF_PATH, true)
    expect(text.length).toBeLessThanOrEqual(REASON_LIMIT)
    expect(text).toMatch(/^Postflight operations pending\nTask /)
    expect(text).toMatch(REPORT)
  })
})
