import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import type { StoredMarker } from '../../../src/marker/stored-marker.ts'
import { type Answered, answerToStart, answerToStop, type StopReport } from '../../../src/stop/answer-for.ts'
import type { StopOutcome } from '../../../src/stop/plan.ts'
import { composeRecovery } from '../../../src/stop/recovery.ts'
import type { Rule } from '../../../src/stop/rules.ts'
import { cappedNotice, doneGivenUp, unreadableNotice, unsettledNotice } from '../../../src/stop/stop-messages.ts'
import { DONE_FOLDER, mainStop, marker, NOW_MS, payload, READER, seen, subagentStop, taskFolder } from '../builders.ts'

const FOLDER = taskFolder('259_x')

type Spoken = Pick<Answered, 'answer' | 'notices' | 'alerts'>

function speak(report: Partial<StopReport>, event = mainStop()): Spoken {
  const runs = { prompt: undefined, notices: [] }
  return answerToStop({ payload: event, reader: READER }, { outcomes: [], problems: [], unchecked: 0, runs, ...report })
}

function judged(rule: Rule, fields: object = {}, more: Partial<StoredMarker> = {}, spent = 0): StopOutcome {
  return { ...(seen({ ...fields }) as StoredMarker), folder: FOLDER, rule, spent, endsWait: false, ...more }
}

function blocked(fields: object = {}, more: Partial<StoredMarker> = {}, count = 1): StopOutcome {
  return judged('block', { reason: 'commit', cc_session_id: 's1', ...fields }, more, count - 1)
}

function linesOf({ answer }: Spoken): string[] {
  return answer.kind === 'block' ? answer.reason.split('\n') : [answer.kind]
}

const CAPPED = judged('capped')
const cappedNotice259 = () =>
  cappedNotice('259_x', 'specs/259_x/.postflight-abandoned', 'postflight adopt 259_x', 'postflight clear 259_x')
const CAPPED_ALERT = 'task 259_x stopped without its postflight'

describe('the answer to a stop', () => {
  it('is an empty allow if nothing happened', () => {
    const nothing = { answer: { kind: 'allow' }, notices: [], alerts: [] }
    expect(speak({})).toEqual(nothing)
    const ended = [judged('bypassed'), judged('expired')]
    expect(speak({ outcomes: [{ kind: 'let-go', folder: FOLDER }, ...ended] })).toEqual(nothing)
  })

  it('blocks with the reason of the markers that block', () => {
    const spoken = speak({ outcomes: [{ kind: 'let-go', folder: taskFolder('1_x') }, blocked()] })
    expect(spoken).toMatchObject({ answer: { kind: 'block' }, notices: [], alerts: [] })
    expect(linesOf(spoken)).toEqual([
      'commit',
      'Task 259_x: its postflight is still pending. Marker: specs/259_x/.postflight-pending',
      'When everything is done, clear the marker: postflight clear 259_x',
      'Blocked stop 1 of 3. (After the third, you may stop.)',
    ])
  })

  it('names the root of a marker that the agent would not find', () => {
    const far = blocked({}, { folder: taskFolder('7_y', '/worktree') }, 3)
    const [, task, clear, count] = linesOf(speak({ outcomes: [far] }))
    expect(task).toMatch(/^Task 7_y: .* Marker: specs\/7_y\/\.postflight-pending$/)
    expect(clear).toMatch(/: postflight clear 7_y --root \/worktree$/)
    expect(count).toMatch(/^Blocked stop 3 of 3/)
  })

  it('asks sub-agents alone to repeat their report', () => {
    expect(linesOf(speak({ outcomes: [blocked()] }, subagentStop())).at(-1)).toContain('repeat your full report')
    expect(linesOf(speak({ outcomes: [blocked()] })).join()).not.toContain('report')
  })

  it('tells the user of markers that are abandoned or could not be used, and of those without time', () => {
    const failed: StopOutcome = { kind: 'unreadable', folder: taskFolder('7_y'), detail: 'EACCES' }
    const report = {
      outcomes: [failed, CAPPED],
      problems: [{ path: 'specs/archive', detail: 'EIO' }],
      unchecked: 2,
      runs: { prompt: undefined, notices: ['a run has ended'] },
    }
    const notices = [
      unreadableNotice('specs/archive', 'EIO'),
      unreadableNotice('specs/7_y/.postflight-pending', 'EACCES'),
      cappedNotice259(),
      unsettledNotice(2),
      'a run has ended',
    ]
    const answer = { kind: 'allow', notice: notices.join('\n') }
    expect(speak(report)).toEqual({ answer, notices, alerts: [CAPPED_ALERT] })
  })
})

describe('the checks of specs/done.yaml', () => {
  it('block with the command that runs them, and nothing about a marker', () => {
    expect(linesOf(speak({ outcomes: [blocked({}, { folder: DONE_FOLDER })] }))).toEqual([
      'commit',
      'Run the checks: postflight done',
      'Blocked stop 1 of 3. (After the third, you may stop.)',
    ])
  })

  it('are given up with a notice that names this command', () => {
    const given = (fields: object) => speak({ outcomes: [judged('capped', fields, { folder: DONE_FOLDER })] })
    expect(given({}).notices).toEqual([doneGivenUp('postflight done', undefined)])
    const checks = [{ run: 'true' }, { run: 'npm test', failed: { exit_code: 1, output: '' } }]
    const said = '`npm test` failed the last time (exit code 1)'
    expect(given({ checks }).notices).toEqual([doneGivenUp('postflight done', said)])
  })
})

describe('a wait is offered', () => {
  const background_tasks = [{ id: 'b1', type: 'shell', status: 'running', description: 'npm run dev' }]

  it.each<[string, object, typeof mainStop, boolean]>([
    ['to the main conversation', {}, mainStop, true],
    ['at its tenth prompt', { waits: 9 }, mainStop, true],
    ['but not at an eleventh', { waits: 10 }, mainStop, false],
    ['nor to a sub-agent', {}, subagentStop, false],
    ['nor for a marker without a session', { cc_session_id: '' }, mainStop, false],
  ])('%s', (_, fields, stop, isOffered) => {
    const marker = blocked({ checks: [{ run: 'npm test' }], ...fields }, { checkingSinceMs: NOW_MS })
    const lines = linesOf(speak({ outcomes: [marker] }, stop({ background_tasks })))
    const shells = lines.find((line) => line.startsWith('Running in the background: '))
    const checks = lines.find((line) => line.startsWith('They have been running since 2026-01-18T12:00:00Z.'))
    const offer = /^Running in the background: "npm run dev"\. .*postflight wait 259_x --for "<what>"$/
    expect(shells).toEqual(isOffered ? expect.stringMatching(offer) : undefined)
    expect(checks?.includes('postflight wait 259_x --for "the checks"') ?? false).toBe(isOffered)
    expect(checks !== undefined).toBe(!('cc_session_id' in fields))
  })
})

describe('a prompt of a workflow', () => {
  const runs = { prompt: 'next', promptLine: 'in one line', notices: [] }

  it('blocks, with one line for hosts that show it', () => {
    expect(speak({ runs }).answer).toEqual({ kind: 'block', reason: 'next', line: 'in one line' })
    expect(speak({ runs: { prompt: 'next', notices: [] } }).answer).toStrictEqual({ kind: 'block', reason: 'next' })
  })

  it('comes after a marker that blocks', () => {
    expect(linesOf(speak({ runs, outcomes: [blocked()] }))[0]).toBe('commit')
  })

  it('does not hide the end of another run, neither does a marker', () => {
    const report = { runs: { ...runs, notices: ['one has ended', 'two has stalled'] } }
    const notice = 'one has ended\ntwo has stalled'
    expect(speak(report).answer).toEqual({ kind: 'block', reason: 'next', line: 'in one line', notice })
    expect(speak(report).notices).toEqual(report.runs.notices)
    expect(speak({ ...report, outcomes: [blocked(), CAPPED] })).toMatchObject({
      answer: { kind: 'block', notice },
      notices: [cappedNotice259(), 'one has ended', 'two has stalled'],
    })
  })
})

describe('what a person who looks elsewhere must know of', () => {
  it('is what has stopped or waits, each once', () => {
    const wait = { wait: { for: 'go-ahead', count: 1 } }
    const outcomes: StopOutcome[] = [
      CAPPED,
      blocked(),
      judged('waiting', wait, { folder: taskFolder('7_y') }),
      judged('background', wait),
      { kind: 'let-go', folder: FOLDER },
    ]
    const waits = 'task 7_y waits for: go-ahead'
    const runs = { prompt: undefined, notices: [], alerts: [waits, 'the workflow of task 8_z has stalled'] }
    expect(speak({ outcomes, runs }).alerts).toEqual([CAPPED_ALERT, waits, 'the workflow of task 8_z has stalled'])
    expect(speak({ outcomes }).alerts).toEqual([CAPPED_ALERT, waits])
  })
})

describe('a session that starts', () => {
  const event = payload({ hook_event_name: 'SessionStart', session_id: 's1' })

  it('is notified of unfinished work, with the commands for each root', () => {
    const folder = taskFolder('7_y', '/worktree')
    const unfinished = [{ state: 'pending', folder: FOLDER, marker: marker(), ageMs: HOUR_MS } as const]
    const run = { name: 'flow', hostSession: 's1', ageMs: 2 * HOUR_MS, status: 'running' } as const
    const runs = [{ folder, ...run, expectsStart: false }]
    const context = composeRecovery(READER, unfinished, 's1', runs)
    const answer = answerToStart({ payload: event, reader: READER }, unfinished, runs)
    expect(answer).toEqual({ kind: 'context', event: 'SessionStart', context })
  })

  it('is notified of ends that nobody saw, if there are any', () => {
    const asker = { payload: event, reader: READER }
    const start = { kind: 'context', event: 'SessionStart', context: undefined, notice: 'one\ntwo' }
    expect(answerToStart(asker, [], [], ['one', 'two'])).toEqual(start)
    expect(answerToStart(asker, [], [])).toEqual({ kind: 'allow' })
  })
})
