import { describe, expect, it } from 'vitest'
import {
  type CheckDecision,
  decideChecks,
  decideFolder,
  failedField,
  mayHaveChecks,
  parseFailure,
  parseMarker,
} from '../../../src/marker/marker.ts'

const marker = (fields: object) => parseMarker(JSON.stringify(fields))
const caller = (session?: string, runChecks = false) => ({ session, runChecks })
const refused = (refusal: 'other-session' | 'unowned' | 'unreadable', ...commands: string[]): CheckDecision => {
  return { refusal, commands, areForeign: refusal !== 'unreadable' }
}
const run = (areForeign: boolean, ...commands: string[]): CheckDecision => ({ commands, areForeign })
const FREE = run(false)
const MINE = { cc_session_id: 's1', checks: [{ run: 'a' }, { run: 'a', step: 'x' }] }
const GIVEN = { ...MINE, cc_session_id: 's2', checks_session: 's1' }
const BROKEN = { cc_session_id: 's1', checks: [{ run: 'a' }, { run: 5 }] }

describe('the checks of a marker', () => {
  it.each<[string, object, ReturnType<typeof caller>, CheckDecision]>([
    ['none', { cc_session_id: 's1', checks: [] }, caller('s2'), FREE],
    ['of this session', MINE, caller('s1'), run(false, 'a')],
    ['of another session', MINE, caller('s2'), refused('other-session', 'a')],
    ['of another session, at the wish of the person', MINE, caller('s2', true), run(true, 'a')],
    ['seen from a plain terminal', MINE, caller(), refused('other-session', 'a')],
    ['that this session wrote for another', GIVEN, caller('s1'), run(false, 'a')],
    ['that another session wrote for this', GIVEN, caller('s2'), refused('other-session', 'a')],
    ['that no session wrote', { ...GIVEN, checks_session: 'none' }, caller('s2'), refused('other-session', 'a')],
    ['without an owner', { checks: [{ run: 'a' }], checks_session: 's1' }, caller('s1', true), refused('unowned', 'a')],
    ['of which one is unreadable', BROKEN, caller('s1', true), refused('unreadable', 'a')],
  ])('%s', (_what, fields, whose, expected) => {
    expect(decideChecks(marker(fields), whose)).toEqual(expected)
    expect(decideFolder(marker(fields), [], whose)).toEqual(expected)
    expect(mayHaveChecks(marker(fields))).toBe(expected !== FREE)
  })

  it('may be all unreadable, and then they may be some', () => {
    expect(mayHaveChecks(marker({ checks: 'a' }))).toBe(true)
    expect(mayHaveChecks(marker({ steps: 'a', reason: 5 }))).toBe(false)
  })
})

describe('the checks of a folder', () => {
  const OTHERS = { cc_session_id: 's2', checks: [{ run: 'b' }] }
  it.each<[string, object | undefined, readonly object[], ReturnType<typeof caller>, CheckDecision]>([
    ['none', undefined, [], caller('s1'), FREE],
    ['of the abandoned markers alone', undefined, [MINE, OTHERS], caller('s1'), run(false, 'a')],
    ['of another session, abandoned', undefined, [OTHERS], caller('s1'), FREE],
    ['of both, each once', { ...MINE, checks: [{ run: 'b' }] }, [MINE, MINE], caller('s1'), run(false, 'b', 'a')],
    ['of both, of which some are foreign', OTHERS, [MINE], caller('s1', true), run(true, 'b', 'a')],
    ['of another session, pending', OTHERS, [MINE], caller('s1'), refused('other-session', 'b')],
    ['of which an abandoned one is unreadable', MINE, [MINE, BROKEN], caller('s1'), refused('unreadable', 'a')],
    ['of which a foreign abandoned one is unreadable', MINE, [BROKEN], caller('s2', true), run(true, 'a')],
  ])('%s', (_what, pending, abandoned, whose, expected) => {
    expect(decideFolder(pending && marker(pending), abandoned.map(marker), whose)).toEqual(expected)
  })
})

it.each([{ exit_code: 3 }, { signal: 'SIGKILL' }, { timed_out_ms: 600 }])('a failure is kept: %j', (how) => {
  const fields = { ...how, output: 'red' }
  const failure = parseFailure(fields)
  expect(failure && failedField(failure)).toEqual(fields)
})
