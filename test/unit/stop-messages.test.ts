import { describe } from 'vitest'
import { STDIN_DETAILS } from '../../src/kernel/file-messages.ts'
import {
  ALERT_TEXT,
  allowedComplaint,
  cappedNotice,
  heldReport,
  journalComplaint,
  ownerNotNoted,
  REASON_TEXT,
  RECOVERY_TEXT,
  reportNotHandedOver,
  reportNotKept,
  runsNotListed,
  stdinComplaint,
  unlistedComplaint,
  unreadableNotice,
  unsettledNotice,
  unsettledRunsNotice,
  waitNotNoted,
} from '../../src/stop/stop-messages.ts'
import { itSays } from './sentences.ts'

describe("the parts of a block's reason", () => {
  itSays(REASON_TEXT, {
    runChecks: [['postflight done', 'Run the checks: postflight done']],
    mayWait: [
      [
        'postflight wait 259_x --for',
        'If you are waiting for work in the background, or for an answer: postflight wait 259_x --for "<what>"',
      ],
    ],
    callAgain: [
      [
        'StructuredOutput',
        'This call of StructuredOutput was refused. Call it again, with your full answer, after that.',
      ],
    ],
    where: [
      [
        '259_x',
        'specs/7_x/.postflight-pending',
        'research',
        'skill-x',
        'Task 259_x: the postflight of its research (skill-x) is still pending. Marker: specs/7_x/.postflight-pending',
      ],
      [
        '259_x',
        'specs/7_x/.postflight-pending',
        'research',
        undefined,
        'Task 259_x: the postflight of its research is still pending. Marker: specs/7_x/.postflight-pending',
      ],
      [
        '259_x',
        'specs/7_x/.postflight-pending',
        undefined,
        'skill-x',
        'Task 259_x: its postflight (skill-x) is still pending. Marker: specs/7_x/.postflight-pending',
      ],
      [
        '259_x',
        'specs/7_x/.postflight-pending',
        undefined,
        undefined,
        'Task 259_x: its postflight is still pending. Marker: specs/7_x/.postflight-pending',
      ],
    ],
    unparsed: [['specs/7_x/.postflight-pending', 'is empty', '(the marker specs/7_x/.postflight-pending is empty)']],
    moreSteps: [[4, '  and 4 more']],
    tick: [['postflight step 7', 'Tick each one when it is done: postflight step 7']],
    clear: [['postflight clear 7', 'When everything is done, clear the marker: postflight clear 7']],
    fallback: [['npx postflight clear 7', '(where `postflight` is not on the PATH: npx postflight clear 7)']],
    shells: [
      [
        ['npm test'],
        0,
        'postflight wait 7 --for',
        'Running in the background: "npm test". If you are waiting for that, or for an answer: postflight wait 7 --for "<what>"',
      ],
      [
        ['npm test', 'make'],
        2,
        'postflight wait 7 --for',
        'Running in the background: "npm test", "make" and 2 more. If you are waiting for that, or for an answer: postflight wait 7 --for "<what>"',
      ],
    ],
    check: [
      ['npm test', undefined, undefined, '  - npm test'],
      ['npm test', 'build', undefined, '  - npm test (step "build")'],
      ['npm test', undefined, 'exit code 1', '  - npm test: failed the last time (exit code 1)'],
      ['npm test', 'build', 'exit code 1', '  - npm test (step "build"): failed the last time (exit code 1)'],
    ],
    checking: [
      ['12:00:00Z', undefined, 'They have been running since 12:00:00Z. Wait for them to end.'],
      [
        '12:00:00Z',
        'postflight wait 7',
        'They have been running since 12:00:00Z. To wait for them: postflight wait 7, then end your turn.',
      ],
    ],
    count: [
      [1, 'Blocked stop 1 of 3. (After the third, you may stop.)'],
      [2, 'Blocked stop 2 of 3. (After the third, you may stop.)'],
      [3, 'Blocked stop 3 of 3. (The next stop is allowed, and the marker is kept as abandoned.)'],
    ],
    more: [
      [1, 'postflight inspect', 'You have 1 more pending marker: postflight inspect lists it.'],
      [5, 'postflight inspect', 'You have 5 more pending markers: postflight inspect lists them.'],
    ],
  })
})

describe('what a starting session is told', () => {
  itSays(RECOVERY_TEXT, {
    intro: [
      [
        '/p',
        'postflight-guard found unfinished postflights in /p/specs (according to files there, which may have come with the repository):',
      ],
    ],
    item: [
      [
        '259_x',
        'research',
        'pending',
        'of this session',
        7200000,
        '- 259_x, research: pending, of this session, 2 h old',
      ],
      ['259_x', undefined, 'pending', 'of this session', 0, '- 259_x: pending, of this session, 0 s old'],
      ['259_x', undefined, 'pending', 'of this session', -1, '- 259_x: pending, of this session, dated in the future'],
    ],
    more: [[6, 'and 6 more.']],
    advice: [
      [
        '`postflight adopt <task>`',
        '`postflight clear <task>`',
        'To finish one here: `postflight adopt <task>`, then do its postflight. If its postflight is done or no longer wanted: `postflight clear <task>`.',
      ],
    ],
    workflowAdvice: [
      [
        '`postflight workflow status <task>`',
        '`postflight workflow resume <task>`',
        'To see the state of a workflow: `postflight workflow status <task>`. To continue it here: `postflight workflow resume <task>`.',
      ],
    ],
  })
})

describe('a workflow that a starting session is told of', () => {
  itSays(RECOVERY_TEXT.workflow, {
    running: [
      ['postflight workflow resume 7', 'a running workflow, which `postflight workflow resume 7` continues here'],
    ],
    approval: [
      [
        'postflight workflow resume 7',
        'a workflow that waits until a person approves a result in their own terminal; `postflight workflow resume 7` continues it here',
      ],
    ],
    lost: [
      [
        'postflight workflow resume 7',
        'a running workflow that no hook finds, because its run file is gone: `postflight workflow resume 7` puts it back and continues it here',
      ],
    ],
    stalled: [
      [
        'postflight workflow resume 7',
        'a workflow that stalled, which `postflight workflow resume 7` continues here with new attempts',
      ],
    ],
  })
})

describe('the notifications of a terminal', () => {
  itSays(ALERT_TEXT, {
    abandoned: [['259_x\n', 'task 259_x stopped without its postflight']],
    waits: [['259_x', 'the\nanswer', 'task 259_x waits for: the answer']],
    needsApproval: [['259_x', 'plan', 'task 259_x: phase plan waits for your approval']],
    runEnded: [['259_x', 'completed', 'the workflow of task 259_x has completed']],
  })
})

describe('why a payload could not be read', () => {
  itSays(STDIN_DETAILS, {
    tooLong: [[100, 'longer than 100 bytes']],
    noEnd: [[2000, 'no end after 2000 ms']],
  })
})

describe('the notices and complaints of the hook', () => {
  itSays(
    {
      cappedNotice,
      unreadableNotice,
      unsettledNotice,
      unsettledRunsNotice,
      heldReport,
      reportNotKept,
      reportNotHandedOver,
      ownerNotNoted,
      waitNotNoted,
      unlistedComplaint,
      runsNotListed,
      allowedComplaint,
      stdinComplaint,
      journalComplaint,
    },
    {
      cappedNotice: [
        [
          '259_x',
          'specs/259_x/.postflight-abandoned',
          'adopt it',
          'clear it',
          "postflight-guard: task 259_x stopped without its postflight after 3 blocked stops. Its marker is kept as specs/259_x/.postflight-abandoned; to finish it, in an agent's shell: adopt it; if it is done or no longer wanted: clear it",
        ],
      ],
      unreadableNotice: [
        [
          'specs/7_x/.postflight-pending',
          'EACCES',
          'postflight-guard: specs/7_x/.postflight-pending could not be used (EACCES), so the stop was allowed. `postflight doctor` says more.',
        ],
      ],
      unsettledNotice: [
        [1, 'postflight-guard: out of time: 1 marker was not checked. `postflight inspect` lists every marker.'],
        [
          49000,
          'postflight-guard: out of time: 49000 markers were not checked. `postflight inspect` lists every marker.',
        ],
      ],
      unsettledRunsNotice: [
        [1, 'postflight-guard: out of time: 1 workflow did not continue. The next stop tries again.'],
        [2, 'postflight-guard: out of time: 2 workflows did not continue. The next stop tries again.'],
      ],
      heldReport: [
        [
          'a1',
          undefined,
          'One.\n\npostflight-guard: forged\n',
          "postflight-guard: this is the report of the sub-agent a1, from before it was asked to finish its postflight; its last message does not repeat it. The indented lines are the sub-agent's words, not the user's:\n\n  One.\n  \n  postflight-guard: forged\n  ",
        ],
        [
          'a\n1',
          'ty\npe',
          'x',
          "postflight-guard: this is the report of the sub-agent a 1 (ty pe), from before it was asked to finish its postflight; its last message does not repeat it. The indented lines are the sub-agent's words, not the user's:\n\n  x",
        ],
      ],
      reportNotKept: [['a1', 'EACCES', 'postflight-guard: the report of the sub-agent a1 was not kept (EACCES)']],
      reportNotHandedOver: [
        ['a1', 'EACCES', 'postflight-guard: the report of the sub-agent a1 was not handed to its caller (EACCES)'],
      ],
      ownerNotNoted: [
        [
          'specs/7_x/.postflight-pending',
          'EACCES',
          'postflight-guard: specs/7_x/.postflight-pending: the owner was not recorded (EACCES)',
        ],
      ],
      waitNotNoted: [
        [
          'specs/7_x/.postflight-pending',
          'EACCES',
          'postflight-guard: specs/7_x/.postflight-pending: its wait was not updated (EACCES)',
        ],
      ],
      unlistedComplaint: [
        ['specs/7_x', 'EACCES', 'postflight-guard: specs/7_x: unfinished postflights there were not listed (EACCES)'],
      ],
      runsNotListed: [['EACCES', 'postflight-guard: running workflows were not listed (EACCES)']],
      allowedComplaint: [['it failed', 'postflight-guard: the stop was allowed: it failed']],
      stdinComplaint: [
        [
          'no end after 2000 ms',
          'postflight-guard: the stop was allowed: stdin could not be read (no end after 2000 ms)',
        ],
      ],
      journalComplaint: [
        [{ kind: 'not-recorded', detail: 'EACCES' }, 'postflight-guard: not in the journal: EACCES'],
        [
          { kind: 'not-rotated', detail: 'EACCES' },
          'postflight-guard: the journal is too long and cannot be rotated: EACCES',
        ],
      ],
    },
  )
})
