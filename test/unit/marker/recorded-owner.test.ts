import { describe, expect, it } from 'vitest'
import type { Moment } from '../../../src/hosts/host.ts'
import {
  announcesWait,
  isMadeByCommand,
  isNamedInOutput,
  ownerFields,
  printedIds,
  waitingIds,
} from '../../../src/marker/recorded-owner.ts'
import { changedAt, marker, NOW_MS } from '../builders.ts'

const ID = 'pf_abcdefghijkl'
const LINE = `created specs/007_x/.postflight-pending  ${ID}`
const OURS = { id: ID, cc_session_id: 's1', created: new Date(NOW_MS - 2_000).toISOString() }
const MADE = changedAt(NOW_MS - 2_000)

/** The end of a command of the agent a1 in the session s1, which ran for 5 s. */
function use(command: string, payload: object = {}, sessionBornMs?: number): Moment {
  const base = {
    event: 'PostToolUse',
    session: 's1',
    agent: 'a1',
    wakeUps: 0,
    shells: [],
    command,
    durationMs: 5_000,
  }
  return { payload: { ...base, ...payload }, nowMs: NOW_MS, startMs: NOW_MS, sessionBornMs }
}

describe('a marker is named as made by', () => {
  it.each(['created', 'renewed', 'replaced', 'adopted'])('a line that begins with "%s"', (verb) => {
    expect([...printedIds(`noise\n${verb} specs/007_x/.postflight-pending  ${ID}\r\nmore`)]).toEqual([ID])
  })

  it('the bare id of --quiet', () => {
    expect([...printedIds(`${ID}\n`)]).toEqual([ID])
  })

  it.each([
    undefined,
    '',
    `"id": "${ID}",`,
    `specs/007_x/.postflight-pending  pending · ${ID}`,
    `2026-01-18T12:00:00Z  create  007_x · ${ID}`,
    `waiting specs/007_x/.postflight-pending  ${ID}`,
    `id ${ID}`,
    `created x ${ID}`,
    'created x  pf_../../../etc',
  ])('nothing else: %j', (output) => {
    expect([...printedIds(output)]).toEqual([])
  })

  it('but as waiting by its own line alone', () => {
    expect([...waitingIds(`waiting specs/007_x/.postflight-pending  ${ID}`)]).toEqual([ID])
    expect([...waitingIds(LINE)]).toEqual([])
  })
})

describe('the line of a marker', () => {
  const owns = (fields: object, one: Moment, times = MADE): boolean =>
    isNamedInOutput(marker({ ...OURS, ...fields }), times, one, printedIds(LINE))

  it('gives it to the agent that printed it', () => {
    expect(owns({}, use('postflight create 7'))).toBe(true)
    expect(owns({ cc_session_id: undefined }, use('postflight create 7'))).toBe(true)
  })

  it.each<[string, object, Moment, typeof MADE?]>([
    ['whose owner is known', { agent_id: 'main' }, use('create')],
    ['of another id', { id: 'pf_000000000000' }, use('create')],
    ['without an id', { id: undefined }, use('create')],
    ['for agents of another type', { agent_type: 'worker' }, use('create')],
    ['that was made before the command', {}, use('cat build.log'), changedAt(NOW_MS - 9_000)],
    ['of another session that an option named', { cc_session_id: 's2' }, use('create')],
    [
      'of another session, from before the command',
      { cc_session_id: 's2', owner_from: 'environment', created: '2026-01-01T00:00:00Z' },
      use('create'),
    ],
    [
      'of another session, by a command of unknown duration that makes none',
      { cc_session_id: 's2', owner_from: 'environment' },
      use('cat build.log', { durationMs: undefined }),
    ],
    [
      'of another session, made more than ten minutes before a command of unknown duration ended',
      { cc_session_id: 's2', owner_from: 'environment', created: new Date(NOW_MS - 602_000).toISOString() },
      use('create', { durationMs: undefined }),
      changedAt(NOW_MS - 601_001),
    ],
    ['of another agent, which the environment named', { agent_id: 'a2', owner_from: 'environment' }, use('create')],
    ['without a session, from before this one', { cc_session_id: undefined }, use('create', {}, NOW_MS + 60_000)],
  ])('gives nothing of a marker %s', (_what, fields, one, times) => {
    expect(owns(fields, one, times)).toBe(false)
  })

  it.each([
    ['3 s before the command began: clocks and file systems round', use('create'), NOW_MS - 8_000, true],
    ['earlier', use('create'), NOW_MS - 8_001, false],
  ])('gives it to the agent of a command if its file was changed %s', (_, one, changedMs, expected) => {
    expect(owns({}, one, changedAt(changedMs))).toBe(expected)
  })

  it.each([
    ['ten minutes before the end', NOW_MS - 600_000, true],
    ['earlier', NOW_MS - 600_001, false],
  ])('gives it to another session, where the duration is not told, if it was made %s', (_, madeMs, expected) => {
    const inherited = { cc_session_id: 's2', owner_from: 'environment', created: undefined }
    expect(owns(inherited, use('create', { durationMs: undefined }), changedAt(madeMs))).toBe(expected)
  })

  it('gives it to an agent of its type, and one without a type to an agent of any type', () => {
    const worker = use('create', { agentType: 'worker' })
    expect(owns({ agent_type: 'worker' }, worker)).toBe(true)
    expect(owns({}, worker)).toBe(true)
  })

  it.each(['create', 'make all'])('gives it to the session that ran "%s" inside another host', (command) => {
    expect(owns({ cc_session_id: 's2', agent_id: 'main', owner_from: 'environment' }, use(command))).toBe(true)
  })

  it('gives it to that session also where the duration of the command is not told', () => {
    const inherited = { cc_session_id: 's2', agent_id: 'main', owner_from: 'environment' }
    expect(owns(inherited, use('postflight create 7', { durationMs: undefined }))).toBe(true)
    expect(owns(inherited, use('sh stage.sh', { command: undefined, durationMs: undefined }))).toBe(false)
  })

  it.each([
    'cat create.log',
    'grep -n create build.log | tail',
    "git log --grep 'create the plan'",
    'cd specs; cat ../adopt/log',
  ])('gives it to no session that only reads it, where the duration is not told: %s', (command) => {
    const inherited = { cc_session_id: 's2', agent_id: 'main', owner_from: 'environment' }
    expect(owns(inherited, use(command, { durationMs: undefined }))).toBe(false)
  })

  it.each([
    'cd x && postflight --root . create 7',
    'npx --no-install postflight create 7 | cat',
    'bash -c "postflight create"',
    'set -e\nnode "/a b/postflight.js" adopt 7',
    'grep -q x create.log || $PF create 7',
  ])('gives it to the session that made it, where the duration is not told: %s', (command) => {
    const inherited = { cc_session_id: 's2', agent_id: 'main', owner_from: 'environment' }
    expect(owns(inherited, use(command, { durationMs: undefined }))).toBe(true)
  })

  it('confirms the owner that the environment named', () => {
    expect(owns({ agent_id: 'a1', owner_from: 'environment' }, use('create'))).toBe(true)
    expect(owns({ agent_id: 'a1' }, use('create'))).toBe(false)
  })

  it('gives nothing where the session is not known', () => {
    expect(owns({ cc_session_id: undefined }, use('create', { session: undefined }))).toBe(false)
  })

  it('gives nothing of the time where the host does not tell it', () => {
    expect(owns({}, use('create', { durationMs: undefined }), changedAt(NOW_MS - 60_000))).toBe(true)
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
    'id=$(postflight create 7 --quiet)',
    'postflight adopt 7 > /dev/null',
    'bash .claude/postflight/start.sh 7',
    './start-postflight.sh',
    'cd x && sh -e "run.sh"',
  ])('gives it to the agent of: %s', (command) => {
    expect(isMadeByCommand(marker(OURS), MADE, use(command))).toBe(true)
  })

  it.each([
    'postflight inspect',
    'cat specs/007_x/.postflight-pending',
    'npm test; grep -r postflight .',
    'npm test; grep -r create src',
    'less notes.shtml',
    '',
  ])('gives nothing to the agent of: %s', (command) => {
    expect(isMadeByCommand(marker(OURS), MADE, use(command))).toBe(false)
  })

  it('is found soon in a command of any length', () => {
    const begin = performance.now()
    for (const one of ['(', '; ', '$(', 'sh -a ', ' create|'])
      isMadeByCommand(marker(OURS), MADE, use(one.repeat(100_000)))
    expect(performance.now() - begin).toBeLessThan(2_000)
  })

  it.each<[string, object, Moment, typeof MADE?]>([
    ['whose owner is known', { agent_id: 'main' }, use('create')],
    ['of another session', { cc_session_id: 's2' }, use('create')],
    ['without a session', { cc_session_id: undefined }, use('create')],
    ['for agents of another type', { agent_type: 'worker' }, use('create')],
    ['that was made before the command', { created: '2026-01-01T00:00:00Z' }, use('create')],
    ['whose file is from before the command', {}, use('create'), changedAt(NOW_MS - 7_000)],
    ['where the host tells no times', {}, use('create', { durationMs: undefined })],
  ])('gives nothing of a marker %s', (_what, fields, one, times = MADE) => {
    expect(isMadeByCommand(marker({ ...OURS, ...fields }), times, one)).toBe(false)
  })

  it.each([
    ['the file, where it does not say when it was made', undefined, NOW_MS - 6_000, true],
    ['the same, more than a second before the command', undefined, NOW_MS - 6_001, false],
    ['`created`, whose fraction of a second is not known', NOW_MS - 6_999, NOW_MS, true],
    ['the same, more than a second before the command', NOW_MS - 7_000, NOW_MS, false],
    ['the file, where that is earlier than `created`', NOW_MS, NOW_MS - 6_001, false],
  ])('is that of %s', (_, createdMs, changedMs, expected) => {
    const created = createdMs === undefined ? undefined : new Date(createdMs).toISOString()
    expect(isMadeByCommand(marker({ ...OURS, created }), changedAt(changedMs), use('create'))).toBe(expected)
  })
})

describe('a command announces a wait', () => {
  const waiting = waitingIds(`waiting x  ${ID}`)

  it.each<[string, boolean, Moment, ReadonlySet<string>, typeof MADE?]>([
    ['that it printed', true, use('sh x.sh'), waiting],
    ['that it printed, from before the command', false, use('cat build.log'), waiting, changedAt(NOW_MS - 9_000)],
    ['that it did not print, while it ran', true, use('postflight wait 7 --for x --quiet'), new Set()],
    [
      'that it did not print, from before the command',
      false,
      use('postflight wait 7'),
      new Set(),
      changedAt(NOW_MS - 9_000),
    ],
    ['that it did not print, where the host tells no times', false, use('wait', { durationMs: undefined }), new Set()],
    ['that it printed, 3 s before it', true, use('cat x'), waiting, changedAt(NOW_MS - 8_000)],
    ['that it did not print, 1 s before it', true, use('postflight wait 7'), new Set(), changedAt(NOW_MS - 6_000)],
    ['that it did not print, earlier', false, use('postflight wait 7'), new Set(), changedAt(NOW_MS - 6_001)],
    ['that is not told', false, use('', { command: undefined }), new Set()],
    ['of which it says nothing', false, use('postflight inspect'), new Set()],
  ])('%s: %s', (_what, expected, one, ids, times = MADE) => {
    expect(announcesWait({ id: ID, changedMs: times.changedMs }, one, ids)).toBe(expected)
  })
})
