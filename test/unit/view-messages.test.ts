import { describe, expect, it } from 'vitest'
import { WATCH_TEXT } from '../../src/views/live-view.ts'
import { eventWords, REPORT_TEXT, transitionWords } from '../../src/views/report/report-messages.ts'
import { STATUS_LINE_TEXT } from '../../src/views/status-line.ts'
import { PROJECT_STATUS_TEXT } from '../../src/views/status-messages.ts'
import { itSays } from './sentences.ts'

describe('an entry of the journal in words', () => {
  it.each([
    ['block', {}, 'stop blocked'],
    ['block', { count: 2 }, 'stop blocked: 2 of 3'],
    ['clear', { outcome: 'unchecked' }, 'cleared without its checks'],
    ['claim', {}, 'owner recorded'],
    ['error', { detail: 'EACCES' }, 'error: EACCES'],
    ['of-a-later-version', {}, 'of-a-later-version'],
  ])('%s %j', (event, facts, words) => {
    const none = { count: undefined, detail: undefined, outcome: undefined }
    expect(eventWords(event, { ...none, ...facts })).toBe(words)
  })
})

describe('a transition of a run in words', () => {
  it('names the step, and the attempt from the second on', () => {
    const place = { phase: 'make', step: 2, attempt: 3 }
    expect(transitionWords('step-failed', place, 'why')).toBe('make, step 2, attempt 3: failed (why)')
    const first = { phase: 'make', step: undefined, attempt: 1 }
    expect(transitionWords('enter', first, undefined)).toBe('make: entered')
  })
})

describe('the words of the report', () => {
  itSays(REPORT_TEXT, {
    worked: [['45 min', '45 min of it worked']],
    ofVisit: [[2, '0 of 2 steps', 'visit 2: 0 of 2 steps']],
    made: [['2026-11-22 12:00:00', 'Generated 2026-11-22 12:00:00. All times are UTC.']],
    waited: [['5 min', 'waits 5 min']],
    others: [[3, '3 more']],
    leftOut: [
      [1, '1 older task left out: postflight report <task> shows one'],
      [2, '2 older tasks left out: postflight report <task> shows one'],
    ],
    events: [
      [1, '1 event'],
      [2, '2 events'],
    ],
    earlier: [
      [1, '1 earlier event left out'],
      [2, '2 earlier events left out'],
    ],
    session: [['s1', 'session s1']],
    agent: [
      ['main', 'main conversation'],
      ['a73', 'agent a73'],
    ],
    blocks: [
      [1, '1 stop blocked'],
      [2, '2 stops blocked'],
    ],
    waitsFor: [['answers', 'waits for: answers']],
    approval: [['plan', 'a person to approve the result of plan']],
    verdict: [['bug', 'verdict bug']],
    waitCount: [
      [1, '1 wait'],
      [2, '2 waits'],
    ],
    prompts: [
      [1, '1 prompt'],
      [2, '2 prompts'],
    ],
    skips: [[2, '2 skipped']],
    visits: [[2, '2 ×']],
    stepsDone: [
      [0, 1, '0 of 1 step'],
      [1, 2, '1 of 2 steps'],
    ],
    attempts: [
      [1, '1 attempt'],
      [2, '2 attempts'],
    ],
    step: [
      [1, 'build', '1. build'],
      [2, undefined, 'step 2'],
    ],
    check: [
      ['npm test', undefined, 'check: npm test'],
      ['npm test', 'exit code 1', 'check: npm test, failed the last time (exit code 1)'],
    ],
    graph: [['flow', 'The phases of flow']],
    more: [
      [1, '1 more phase'],
      [2, '2 more phases'],
    ],
    written: [
      ['report.html', 1, 'wrote report.html: 1 task'],
      ['report.html', 2, 'wrote report.html: 2 tasks'],
    ],
  })
})

const PROVEN = { root: '/p', session: undefined, cleared: 0, checks: [], completed: 0, hasMarkers: false }

describe('what status says', () => {
  itSays(PROJECT_STATUS_TEXT, {
    clean: [
      [PROVEN, 'no marker was made by `postflight create` in /p in the last 24 h, none is pending'],
      [{ ...PROVEN, session: 's\n1' }, 'no marker was made by `postflight create` in session s 1, none is pending'],
      [{ ...PROVEN, completed: 1 }, '1 workflow completed, none pending in /p'],
      [{ ...PROVEN, hasMarkers: true }, 'nothing was cleared, none pending in /p'],
      [{ ...PROVEN, hasMarkers: true, cleared: 1, session: 's' }, '1 cleared, none pending in session s'],
      [
        { ...PROVEN, root: '/p\n', hasMarkers: true, cleared: 2, checks: ['npm\ntest', 'true'], completed: 2 },
        '2 cleared (checks passed: npm test, true), 2 workflows completed, none pending in /p',
      ],
    ],
    expected: [['Task 7: x.', 'expected: Task 7: x.']],
    lastSeen: [['2 h', 'in the journal 2 h ago']],
    unproven: [[['npm\ntest', 'true'], 'not passed since: npm test, true']],
    item: [
      ['pending', 'specs/7_x/.postflight-pending', [], 'pending: specs/7_x/.postflight-pending'],
      ['stalled', 'specs/7_x', ['2 h old', 'session s1'], 'stalled: specs/7_x · 2 h old · session s1'],
    ],
    fix: [['postflight clear 7', '  → postflight clear 7']],
    waitsFor: [['the\nanswer', 'waits for the answer']],
    age: [['2 h', '2 h old']],
    blocked: [[1, 3, 'blocked 1 of 3 stops']],
    gaveUp: [[3, 'gave up after 3 blocked stops']],
    failedCheck: [['npm\ntest', 'exit code 1', '`npm test` failed the last time (exit code 1)']],
    steps: [
      [1, '1 step to go'],
      [2, '2 steps to go'],
    ],
    session: [
      [null, 'without a session'],
      ['s\n1', 'session s 1'],
    ],
    lastChange: [['2 h', 'last change 2 h ago']],
  })
})

describe('the fixes that status names', () => {
  itSays(PROJECT_STATUS_TEXT.fixes, {
    unparsed: [['postflight clear 7', 'postflight clear 7 (its text is kept), or repair it by hand']],
    pending: [
      [
        'postflight clear 7',
        'postflight adopt 7',
        'when its postflight is done: postflight clear 7 (in another session: postflight adopt 7 first)',
      ],
    ],
    abandoned: [
      [
        'postflight adopt 7',
        'postflight clear 7',
        "to finish it, in an agent's shell: postflight adopt 7; if it is done or no longer wanted: postflight clear 7",
      ],
    ],
    done: [
      [
        'postflight done',
        'postflight clear done --unchecked',
        'postflight done runs the checks; if it is no longer wanted: postflight clear done --unchecked',
      ],
    ],
    lost: [['postflight clear 7', 'if its postflight is done or no longer wanted: postflight clear 7']],
    running: [
      [
        'postflight workflow status 7',
        'postflight workflow resume 7',
        'postflight workflow status 7; to continue it in another session: postflight workflow resume 7',
      ],
    ],
    approval: [
      [
        'specs/7_x/plan.md',
        'postflight workflow approve 7',
        'postflight workflow reject 7',
        'read specs/7_x/plan.md, then postflight workflow approve 7, or postflight workflow reject 7 --reason TEXT',
      ],
    ],
    over: [
      [
        'postflight workflow resume 7',
        'postflight clear 7',
        'to continue it: postflight workflow resume 7; if it is no longer wanted: postflight clear 7',
      ],
    ],
    aborted: [
      [
        'postflight workflow history 7',
        'postflight clear 7',
        'postflight workflow history 7 shows what was done; `postflight workflow start <task> --definition FILE --fresh` starts a new run. To list it no longer: postflight clear 7',
      ],
    ],
    skipped: [
      [
        'postflight workflow history 7',
        'postflight clear 7',
        'postflight workflow history 7 shows what was skipped. If that is all right: postflight clear 7',
      ],
    ],
  })
})

describe('the parts of the status line', () => {
  itSays(STATUS_LINE_TEXT, {
    pending: [
      ['259_x', null, '⚑ 259_x'],
      ['259_x', 'research', '⚑ 259_x research'],
    ],
    steps: [[1, 3, '1/3 steps']],
    blocked: [[2, 3, 'blocked 2/3']],
    waits: [['259_x', 'the\nanswer', '⏸ 259_x waits: the answer']],
    approval: [['259_x', 'plan', '⏸ 259_x waits for approval: plan']],
    running: [['259_x', 'plan', '▶ 259_x plan']],
    step: [[2, 5, '2/5']],
    atOnce: [[3, '3 at once']],
    attempt: [[2, 3, 'attempt 2/3']],
    abandoned: [['259_x', '✗ 259_x abandoned']],
    unusable: [['259_a_rather_long_name_of_a_task_folder', '! 259_a_rather_long_name_of_a_t… unreadable']],
    more: [[2, '+2 more']],
    elsewhere: [[2, '+2 elsewhere']],
  })
})

describe('the words of live views', () => {
  itSays(WATCH_TEXT, {
    title: [
      ['status', undefined, 'postflight status'],
      ['status', '/my\nproject', 'postflight status  /my project'],
    ],
    waits: [
      [undefined, 'no workflows here yet'],
      ['7', 'no workflow of task 7 yet: waiting until it starts'],
    ],
    foot: [['12:00:00', 'last change 12:00:00 · q quits']],
    more: [
      [1, '… 1 more row: make the window taller'],
      [2, '… 2 more rows: make the window taller'],
    ],
  })
})
