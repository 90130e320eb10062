import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CommandForm } from '../../../src/kernel/command-line.ts'
import { commandLine } from '../../../src/kernel/command-line.ts'
import { type Marker, parseMarker } from '../../../src/marker/marker.ts'
import { formatAnswer, REASON_LIMIT } from '../../../src/stop/answer.ts'
import { type BlockedMarker, composeReason } from '../../../src/stop/reason.ts'
import { composeRecovery } from '../../../src/stop/recovery.ts'
import { blocked, READER, taskFolder } from '../../unit/builders.ts'
import { holds, hostileText, longText, markerFields, maybe } from '../arbitraries.ts'

const REPORT = 'Then repeat your full report as your last message: your caller receives only that message.'

/** A name as a file system allows it: without NUL and slash, not empty, often plain. */
const anyTask = fc.oneof(
  fc.stringMatching(/^\d{3}_[a-z_]{1,40}$/),
  hostileText.map((text) => `7_${text.replaceAll(/[/\u0000]/g, '')}`.slice(0, 200)),
  fc.constant('.'),
)
const anyRoot = fc.oneof(
  fc.constant(undefined),
  fc.stringMatching(/^\/[a-z]{1,20}$/),
  fc
    .tuple(fc.constantFrom('/my project', "/it's", '/größe', '/d'), fc.integer({ min: 1, max: 60 }))
    .map(([part, times]) => part.repeat(times)),
)
const anyMarker: fc.Arbitrary<Marker> = fc.oneof(
  markerFields.map((fields) => parseMarker(JSON.stringify(fields))),
  longText.map((reason) => parseMarker(JSON.stringify({ reason }))),
  fc
    .tuple(longText, fc.integer({ min: 0, max: 100 }), hostileText)
    .map(([reason, count, name]) =>
      parseMarker(JSON.stringify({ reason, operation: name, steps: Array(count).fill(name) })),
    ),
  longText.map(parseMarker),
)
const anyBlocked: fc.Arbitrary<BlockedMarker> = fc
  .record({ marker: anyMarker, task: anyTask, count: fc.integer({ min: 1, max: 3 }), root: anyRoot })
  .map((item) => ({ ...blocked(), ...item, path: `specs/${item.task}/.postflight-pending` }))
const anyList = fc.oneof(
  { weight: 3, arbitrary: fc.array(anyBlocked, { minLength: 1, maxLength: 12 }) },
  fc
    .tuple(anyBlocked, fc.integer({ min: 1, max: 200 }))
    .map(([item, count]) => Array(count).fill(item) as BlockedMarker[]),
)
const anyForm = fc.record({
  onPath: fc.boolean(),
  byNpx: fc.boolean(),
  script: anyRoot.map((root) => `${root ?? ''}/postflight.js`),
})

/** The reason as the host reads it. */
function answered(blocked: readonly BlockedMarker[], form: CommandForm, subagent: boolean): string {
  const line = formatAnswer({ kind: 'block', reason: composeReason(blocked, form, subagent) }, true)
  expect(line.indexOf('\n')).toBe(line.length - 1)
  const answer = JSON.parse(line) as { decision: string; reason: string }
  expect(Object.keys(answer)).toEqual(['decision', 'reason'])
  expect(answer.decision).toBe('block')
  return answer.reason
}

/** A command as `formatAnswer` prints it: a path may contain characters that are never printed. */
const printed = (command: string): string =>
  command
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '')
    .replaceAll(/\p{Surrogate}/gu, '')

describe('the reason of a block', () => {
  it('is valid, bounded and clean, and never loses the command or the report line', () => {
    holds(200)(anyList, anyForm, fc.boolean(), (blocked, form, subagent) => {
      expect(composeReason(blocked, form, subagent).length).toBeLessThanOrEqual(REASON_LIMIT)
      const reason = answered(blocked, form, subagent)
      expect(reason).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\p{Surrogate}/u)
      const [first] = blocked
      const clear = commandLine(['clear', first?.task ?? ''], first?.root)
      expect(reason).toContain(`clear the marker: ${printed(clear)}\n`)
      expect(reason.endsWith(`\n\n${REPORT}`)).toBe(subagent)
      expect(reason.includes(REPORT)).toBe(subagent)
    })
  })

  it("begins with the first marker's own words, as many as fit", () => {
    holds(200)(longText, anyForm, fc.boolean(), (text, form, subagent) => {
      const own = printed(text.slice(0, 60_000)).trim()
      fc.pre(own !== '')
      const marker = parseMarker(JSON.stringify({ reason: text.slice(0, 60_000) }))
      const item = { ...blocked(), marker, task: '7_x', path: 'p' }
      // JSON escapes may have made the file too large to be parsed.
      fc.pre(marker.fields !== undefined)
      const reason = answered([item], form, subagent)
      // Several lines end with an empty one.
      const shown = reason.slice(0, reason.indexOf('\nTask 7_x: its postflight is still pending')).replace(/\n$/, '')
      if (shown.endsWith('…')) expect(own.startsWith(shown.slice(0, -1).trimEnd()) || own === shown).toBe(true)
      else expect(shown).toBe(own)
      if (own.length < 1000) expect(shown).toBe(own)
    })
  })

  it('describes or counts every marker, in order', () => {
    holds(200)(fc.integer({ min: 1, max: 200 }), longText, fc.boolean(), (count, text, subagent) => {
      const marker = parseMarker(JSON.stringify({ reason: `r${text.replaceAll('Task', '')}` }))
      const item = { ...blocked(), marker, path: 'p' }
      const items = Array.from({ length: count }, (_, index) => ({ ...item, task: `${index}_x` }))
      const reason = composeReason(items, { onPath: true, byNpx: false, script: '' }, subagent)
      const shown = [...reason.matchAll(/^Task (\d+)_x: /gm)].map((match) => Number(match[1]))
      expect(shown).toEqual(shown.map((_, index) => index))
      const rest = Number(/^You have (\d+) more pending markers?: /m.exec(reason)?.[1] ?? 0)
      expect(shown.length + rest).toBe(count)
    })
  })
})

it('the text for a session that starts is valid and bounded, and contains no reason', () => {
  const anyUnfinished = fc.record({
    state: fc.constantFrom('pending' as const, 'abandoned' as const),
    folder: fc.tuple(anyTask, anyRoot).map(([task, root]) => taskFolder(task, root)),
    marker: fc
      .tuple(markerFields, longText)
      .map(([fields, text]) => parseMarker(JSON.stringify({ ...fields, reason: `SECRET${text}` }))),
    ageMs: fc.integer(),
  })
  holds(150)(fc.array(anyUnfinished, { minLength: 1, maxLength: 40 }), maybe(fc.constant('s1')), (list, session) => {
    const context = composeRecovery(READER, list, session) ?? ''
    const line = formatAnswer({ kind: 'context', event: 'SessionStart', context }, false)
    const { additionalContext } = JSON.parse(line).hookSpecificOutput as { additionalContext: string }
    expect(line.indexOf('\n')).toBe(line.length - 1)
    expect(additionalContext.length).toBeLessThanOrEqual(REASON_LIMIT)
    expect(additionalContext).not.toContain('SECRET')
    expect(additionalContext).toContain('postflight clear')
  })
})
