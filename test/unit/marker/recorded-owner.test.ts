import { describe, expect, it } from 'vitest'
import type { Moment } from '../../../src/hosts/payload.ts'
import {
  announcesWait,
  idsIn,
  isMadeByCommand,
  isNamedInOutput,
  OWNER_LINE,
  ownerFields,
  WAIT_LINE,
} from '../../../src/marker/recorded-owner.ts'
import { changedAt, marker, NOW_MS } from '../builders.ts'

const ID = 'pf_abcdefghijkl'
const LINE = `created specs/007_x/.postflight-pending  ${ID}`
const OURS = { id: ID, cc_session_id: 's1', created: new Date(NOW_MS - 2_000).toISOString() }
const MADE = changedAt(NOW_MS - 2_000)

/** What the hook knows at the end of a command whose duration the host does not tell. */
const UNTIMED = { durationMs: undefined }
const INHERITED = { cc_session_id: 's2', agent_id: 'main', owner_from: 'environment' }

/** The end of a command of the agent a1 in the session s1, which ran for 5 s. */
function use(command: string, payload: object = {}, sessionBornMs?: number): Moment {
  const base = { event: 'PostToolUse', session: 's1', agent: 'a1', wakeUps: 0, shells: [], durationMs: 5_000 }
  return { payload: { ...base, command, ...payload }, nowMs: NOW_MS, startMs: NOW_MS, sessionBornMs }
}

/** The time of a file that was changed so long before the command ended. */
const aged = (ageMs: number) => changedAt(NOW_MS - ageMs)
const createdBefore = (ageMs: number) => ({ created: new Date(NOW_MS - ageMs).toISOString() })

describe('a marker is named as made by', () => {
  it.each([
    ...['created', 'renewed', 'replaced', 'adopted'].map((verb) => `noise\n${verb} specs/007_x/x  ${ID}\r\nmore`),
    `${ID}\n`,
  ])('a line that begins so, or the bare id of --quiet: %j', (output) => {
    expect([...idsIn(output, OWNER_LINE)]).toEqual([ID])
  })

  it.each([
    ...[undefined, '', `"id": "${ID}",`, `id ${ID}`, `created x ${ID}`, `2026-01-18T12:00:00Z  create  007_x · ${ID}`],
    ...[`specs/007_x/.postflight-pending  pending · ${ID}`, `waiting specs/007_x/.postflight-pending  ${ID}`],
    'created x  pf_../../../etc',
  ])('nothing else: %j', (output) => {
    expect([...idsIn(output, OWNER_LINE)]).toEqual([])
  })

  it('but as waiting by its own line alone', () => {
    expect([...idsIn(`waiting specs/007_x/.postflight-pending  ${ID}`, WAIT_LINE)]).toEqual([ID])
    expect([...idsIn(LINE, WAIT_LINE)]).toEqual([])
  })
})

describe('the line of a marker', () => {
  const owns = (fields: object, one: Moment, times = MADE): boolean =>
    isNamedInOutput(marker({ ...OURS, ...fields }), times, one, idsIn(LINE, OWNER_LINE))

  const untimed = use('create', UNTIMED)
  const undated = { ...INHERITED, created: undefined }

  it.each<[string, object, Moment, typeof MADE?]>([
    ['without an agent, in its session', {}, use('postflight create 7')],
    ['without a session', { cc_session_id: undefined }, use('postflight create 7')],
    ['for agents of its type', { agent_type: 'worker' }, use('create', { agentType: 'worker' })],
    ['for agents of any type', {}, use('create', { agentType: 'worker' })],
    ['that the environment gave to it', { agent_id: 'a1', owner_from: 'environment' }, use('create')],
    ['of any age, if the host tells no times', {}, use('create', UNTIMED), aged(60_000)],
    ['whose file changed 3 s before the command: clocks and file systems round', {}, use('create'), aged(8_000)],
    ['of an outer host', INHERITED, use('create')],
    ['of an outer host, by any command that made it', INHERITED, use('make all')],
    ['of an outer host, untimed', INHERITED, use('postflight create 7', UNTIMED)],
    ['of an outer host, untimed, ten minutes old', undated, untimed, aged(600_000)],
    ['of an outer host, adopted', { ...INHERITED, ...createdBefore(602_000) }, use('postflight adopt 7')],
    ['of an outer host, adopted, untimed', { ...INHERITED, ...createdBefore(602_000) }, use('x adopt 7', UNTIMED)],
  ])('gives a marker to the agent that printed it: one %s', (_what, fields, one, times) => {
    expect(owns(fields, one, times)).toBe(true)
  })

  it.each<[string, object, Moment, typeof MADE?]>([
    ['whose owner is known', { agent_id: 'main' }, use('create')],
    ['whose owner is known to be this agent', { agent_id: 'a1' }, use('create')],
    ['of another id', { id: 'pf_000000000000' }, use('create')],
    ['without an id', { id: undefined }, use('create')],
    ['for agents of another type', { agent_type: 'worker' }, use('create')],
    ['that was made before the command', {}, use('cat build.log'), aged(9_000)],
    ['whose file changed more than 3 s before the command', {}, use('create'), aged(8_001)],
    ['of another session that an option named', { cc_session_id: 's2' }, use('create')],
    ['of an outer host, from before the command', { ...INHERITED, created: '2026-01-01T00:00:00Z' }, use('create')],
    ['of an outer host, untimed, if no command is told', INHERITED, use('', { ...UNTIMED, command: undefined })],
    ['of an outer host, untimed, older than ten minutes', undated, untimed, aged(600_001)],
    ['of an outer host, untimed, made earlier', { ...undated, ...createdBefore(602_000) }, untimed, aged(599_000)],
    ['of another agent, which the environment named', { agent_id: 'a2', owner_from: 'environment' }, use('create')],
    ['without a session, from before this one', { cc_session_id: undefined }, use('create', {}, NOW_MS + 60_000)],
    ['if the session is not known', { cc_session_id: undefined }, use('create', { session: undefined })],
  ])('gives nothing of a marker %s', (_what, fields, one, times) => {
    expect(owns(fields, one, times)).toBe(false)
  })

  it.each([
    ['cat create.log', false],
    ['grep -n create build.log | tail', false],
    ["git log --grep 'create the plan'", false],
    ['cd specs; cat ../adopt/log', false],
    ['cd x && postflight --root . create 7', true],
    ['npx --no-install postflight create 7 | cat', true],
    ['bash -c "postflight create"', true],
    ['set -e\nnode "/a b/postflight.js" adopt 7', true],
    ['grep -q x create.log || $PF create 7', true],
  ])('gives it, untimed, to the session that made it, and not to one that reads it: %s (%s)', (command, expected) => {
    expect(owns(INHERITED, use(command, UNTIMED))).toBe(expected)
  })

  it('makes its agent the owner, or main', () => {
    const own = { agent_id: 'a1', cc_session_id: 's1', owner_from: undefined }
    expect(ownerFields(marker({}), use('x').payload)).toEqual(own)
    const { agent: _agent, ...unnamed } = use('x').payload
    expect(ownerFields(marker({}), unnamed)).toMatchObject({ agent_id: 'main' })
  })

  it('leaves checks with the session that wrote them', () => {
    const checks = [{ run: 'make harm' }]
    const fieldsOf = (fields: object) => ownerFields(marker({ checks, ...fields }), use('x').payload)
    expect(fieldsOf({})).toMatchObject({ cc_session_id: 's1', checks_session: 'none' })
    expect(fieldsOf({ cc_session_id: 'outer' })).toMatchObject({ cc_session_id: 's1', checks_session: 'outer' })
    expect(fieldsOf({ cc_session_id: 'x', checks_session: 'y' })).toMatchObject({ checks_session: 'y' })
    expect(fieldsOf({ cc_session_id: 's1' })).not.toHaveProperty('checks_session')
  })
})

describe('the time of a marker', () => {
  it.each([
    ['id=$(postflight create 7 --quiet)', true],
    ['postflight adopt 7 > /dev/null', true],
    ['bash .claude/postflight/start.sh 7', true],
    ['./start-postflight.sh', true],
    ['cd x && sh -e "run.sh"', true],
    ['postflight inspect', false],
    ['cat specs/007_x/.postflight-pending', false],
    ['npm test; grep -r postflight .', false],
    ['npm test; grep -r create src', false],
    ['less notes.shtml', false],
    ['', false],
  ])('gives it to the agent of a command that may make one: %s (%s)', (command, expected) => {
    expect(isMadeByCommand(marker(OURS), MADE, use(command))).toBe(expected)
  })

  it('is found soon in a command of any length', () => {
    const begin = performance.now()
    for (const one of ['(', '; ', '$(', 'sh -a ', '-sh ', ' create|'])
      isMadeByCommand(marker(OURS), MADE, use(`sh ${one.repeat(100_000)}`))
    expect(performance.now() - begin).toBeLessThan(2_000)
  })

  it.each<[string, object, Moment, typeof MADE?]>([
    ['whose owner is known', { agent_id: 'main' }, use('create')],
    ['of another session', { cc_session_id: 's2' }, use('create')],
    ['without a session', { cc_session_id: undefined }, use('create')],
    ['for agents of another type', { agent_type: 'worker' }, use('create')],
    ['that was made before the command', { created: '2026-01-01T00:00:00Z' }, use('create')],
    ['whose file is from before the command', {}, use('create'), aged(7_000)],
    ['where the host tells no times', {}, use('create', UNTIMED)],
  ])('gives nothing of a marker %s', (_what, fields, one, times = MADE) => {
    expect(isMadeByCommand(marker({ ...OURS, ...fields }), times, one)).toBe(false)
  })

  it.each([
    ['the file, if it does not say when it was made', { created: undefined }, 6_000, true],
    ['the same, more than a second before the command', { created: undefined }, 6_001, false],
    ['`created`, whose fraction of a second is not known', createdBefore(6_999), 0, true],
    ['the same, more than a second before the command', createdBefore(7_000), 0, false],
    ['the file, if that is earlier than `created`', createdBefore(0), 6_001, false],
  ])('is that of %s', (_, created, ageMs, expected) => {
    expect(isMadeByCommand(marker({ ...OURS, ...created }), aged(ageMs), use('create'))).toBe(expected)
  })
})

describe('a command announces a wait', () => {
  const waiting = idsIn(`waiting x  ${ID}`, WAIT_LINE)

  const silent: ReadonlySet<string> = new Set()

  it.each<[string, boolean, Moment, ReadonlySet<string>, typeof MADE?]>([
    ['that it printed', true, use('sh x.sh'), waiting],
    ['that it printed, 3 s before it', true, use('cat x'), waiting, aged(8_000)],
    ['that it printed, from before the command', false, use('cat build.log'), waiting, aged(9_000)],
    ['that it did not print, while it ran', true, use('postflight wait 7 --for x --quiet'), silent],
    ['that it did not print, 1 s before it', true, use('postflight wait 7'), silent, aged(6_000)],
    ['that it did not print, earlier', false, use('postflight wait 7'), silent, aged(6_001)],
    ['that it did not print, if the host tells no times', false, use('wait', UNTIMED), silent],
    ['that is not told', false, use('', { command: undefined }), silent],
    ['of which it says nothing', false, use('postflight inspect'), silent],
  ])('%s: %s', (_what, expected, one, ids, times = MADE) => {
    expect(announcesWait({ id: ID, changedMs: times.changedMs }, one, ids)).toBe(expected)
  })
})
