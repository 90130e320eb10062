import { describe, expect, it } from 'vitest'
import type { CommandReader } from '../../../src/kernel/command-line.ts'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import type { StoredMarker } from '../../../src/marker/stored-marker.ts'
import { type Answered, answerToStart, answerToStop, type StopReport } from '../../../src/stop/answer-for.ts'
import type { StopOutcome } from '../../../src/stop/plan.ts'
import { mainStop, marker, NOW_MS, payload, seen, subagentStop, taskFolder } from '../builders.ts'

const FOLDER = taskFolder('259_x')

/** A shell that finds `/home/me/p` itself, and has `postflight` on its PATH. */
const READER: CommandReader = {
  foundRoot: '/home/me/p',
  findForm: () => ({ onPath: true, byNpx: false, script: '/opt/postflight.js' }),
}

type Spoken = Pick<Answered, 'answer' | 'notices' | 'alerts'>

function speak(report: Partial<StopReport>, event = mainStop()): Spoken {
  const runs = { prompt: undefined, notices: [] }
  return answerToStop({ payload: event, reader: READER }, { outcomes: [], problems: [], unchecked: 0, runs, ...report })
}

function stored(fields: object = {}, more: Partial<StoredMarker> = {}): StoredMarker {
  return { ...(seen({ ...fields }) as StoredMarker), folder: FOLDER, ...more }
}

function blocked(fields: object = {}, more: Partial<StoredMarker> = {}, count = 1): StopOutcome {
  return { kind: 'blocked', stored: stored({ reason: 'commit', cc_session_id: 's1', ...fields }, more), count }
}

/** The reason of a block, line by line. */
function linesOf({ answer }: Spoken): string[] {
  return answer.kind === 'block' ? answer.reason.split('\n') : [answer.kind]
}

const CAPPED: StopOutcome = { kind: 'capped', stored: stored() }
const CAPPED_NOTICE =
  "postflight-guard: task 259_x stopped without its postflight after 3 blocked stops. Its marker is kept as specs/259_x/.postflight-abandoned; to finish it, in an agent's shell: postflight adopt 259_x; if it is done or no longer wanted: postflight clear 259_x"
const CAPPED_ALERT = 'task 259_x stopped without its postflight'

describe('the answer to a stop', () => {
  it('is an empty allow if nothing happened', () => {
    const nothing = { answer: { kind: 'allow' }, notices: [], alerts: [] }
    expect(speak({})).toEqual(nothing)
    const silent: StopOutcome[] = [
      { kind: 'let-go', folder: FOLDER },
      { kind: 'bypassed', stored: stored() },
      { kind: 'expired', stored: stored() },
    ]
    expect(speak({ outcomes: silent })).toEqual(nothing)
  })

  it('blocks with the reason of the markers that block', () => {
    expect(speak({ outcomes: [{ kind: 'let-go', folder: taskFolder('1_x') }, blocked()] })).toEqual({
      answer: {
        kind: 'block',
        reason: [
          'commit',
          'Task 259_x: its postflight is still pending. Marker: specs/259_x/.postflight-pending',
          'When everything is done, clear the marker: postflight clear 259_x',
          'Blocked stop 1 of 3. (After the third, you may stop.)',
        ].join('\n'),
      },
      notices: [],
      alerts: [],
    })
  })

  it('names the root of a marker that the agent would not find', () => {
    const far = blocked({}, { folder: taskFolder('7_y', '/worktree') }, 3)
    expect(linesOf(speak({ outcomes: [far] })).slice(1)).toEqual([
      'Task 7_y: its postflight is still pending. Marker: specs/7_y/.postflight-pending',
      'When everything is done, clear the marker: postflight clear 7_y --root /worktree',
      'Blocked stop 3 of 3. (The next stop is allowed, and the marker is kept as abandoned.)',
    ])
  })

  it('asks sub-agents alone to repeat their report', () => {
    expect(linesOf(speak({ outcomes: [blocked()] }, subagentStop())).at(-1)).toContain('repeat your full report')
    expect(linesOf(speak({ outcomes: [blocked()] })).join()).not.toContain('report')
  })

  it('tells the user of markers that are abandoned or could not be used, and of those without time', () => {
    const outcomes: StopOutcome[] = [
      { kind: 'failed', folder: taskFolder('7_y'), detail: 'EACCES' },
      { kind: 'let-go', folder: FOLDER },
      CAPPED,
    ]
    const report = {
      outcomes,
      problems: [{ path: 'specs/archive', detail: 'EIO' }],
      unchecked: 2,
      runs: { prompt: undefined, notices: ['a run has ended'] },
    }
    const notices = [
      'postflight-guard: specs/archive could not be used (EIO), so the stop was allowed. `postflight doctor` says more.',
      'postflight-guard: specs/7_y/.postflight-pending could not be used (EACCES), so the stop was allowed. `postflight doctor` says more.',
      CAPPED_NOTICE,
      'postflight-guard: out of time: 2 markers were not checked. `postflight inspect` lists every marker.',
      'a run has ended',
    ]
    expect(speak(report)).toEqual({
      answer: { kind: 'allow', notice: notices.join('\n') },
      notices,
      alerts: [CAPPED_ALERT],
    })
  })
})

describe('a wait is offered', () => {
  const shells = [{ id: 'b1', type: 'shell', status: 'running', description: 'npm run dev' }]
  const checks = { checks: [{ run: 'npm test' }] }
  const line = (prefix: string, fields: object, event = mainStop({ background_tasks: shells })): string | undefined =>
    linesOf(speak({ outcomes: [blocked({ ...checks, ...fields }, { checkingSinceMs: NOW_MS })] }, event)).find((one) =>
      one.startsWith(prefix),
    )

  it.each<[string, object, ReturnType<typeof mainStop>, boolean]>([
    ['to the main conversation', {}, mainStop({ background_tasks: shells }), true],
    ['at its tenth prompt', { waits: 9 }, mainStop({ background_tasks: shells }), true],
    ['but not at an eleventh', { waits: 10 }, mainStop({ background_tasks: shells }), false],
    ['nor to a sub-agent', {}, subagentStop({ background_tasks: shells }), false],
  ])('%s', (_, fields, event, isOffered) => {
    expect(line('Running in the background: ', fields, event)).toBe(
      isOffered
        ? 'Running in the background: "npm run dev". If you are waiting for that, or for an answer: postflight wait 259_x --for "<what>"'
        : undefined,
    )
    expect(line('They have been running since ', fields, event)).toBe(
      isOffered
        ? 'They have been running since 2026-01-18T12:00:00Z. To wait for them: postflight wait 259_x --for "the checks", then end your turn.'
        : 'They have been running since 2026-01-18T12:00:00Z. Wait for them to end.',
    )
  })

  it('never for a marker without a session', () => {
    expect(line('Running in the background: ', { cc_session_id: '' })).toBeUndefined()
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
      notices: [CAPPED_NOTICE, 'one has ended', 'two has stalled'],
    })
  })
})

describe('what a person who looks elsewhere must know of', () => {
  it('is what has stopped or waits, each once', () => {
    const outcomes: StopOutcome[] = [
      CAPPED,
      blocked(),
      { kind: 'let-go', folder: taskFolder('7_y'), waitsFor: 'go-ahead' },
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

  it('is told what is unfinished, with the commands for each root', () => {
    const folder = taskFolder('7_y', '/worktree')
    const unfinished = [{ state: 'pending', folder: FOLDER, marker: marker(), ageMs: HOUR_MS } as const]
    const run = {
      name: 'flow',
      hostSession: 's1',
      ageMs: 2 * HOUR_MS,
      status: 'running',
      expectsStart: false,
    } as const
    const answer = answerToStart({ payload: event, reader: READER }, unfinished, [{ folder, ...run }])
    expect(answer).toEqual({
      kind: 'context',
      event: 'SessionStart',
      context: [
        'postflight-guard found unfinished postflights in /home/me/p/specs (according to files there, which may have come with the repository):',
        '- 259_x: pending, without a session, 1 h old',
        'To finish one here: postflight adopt <task>, then do its postflight. If its postflight is done or no longer wanted: postflight clear <task>. If unsure, ask the user.',
        '',
        'postflight-guard found unfinished postflights in /worktree/specs (according to files there, which may have come with the repository):',
        '- 7_y, flow: a running workflow, which sends its next prompt when you end your turn, of this session, 2 h old',
        'To see the state of a workflow: postflight workflow status --root /worktree <task>. To continue it here: postflight workflow resume --root /worktree <task>. If unsure, ask the user.',
      ].join('\n'),
    })
  })
})
