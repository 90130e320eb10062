import { describe } from 'vitest'
import { trustedLine } from '../../src/cli/commands/workflow-resume.ts'
import { SIMULATE_TEXT } from '../../src/cli/commands/workflow-simulate.ts'
import { startedLine } from '../../src/cli/commands/workflow-start.ts'
import { VALIDATE_TEXT } from '../../src/cli/commands/workflow-validate.ts'
import { NEXT_TEXT } from '../../src/cli/workflow/due-prompt.ts'
import { PHASE_CHECK_TEXT, STATUS_TEXT } from '../../src/run/run-messages.ts'
import { HISTORY_TEXT } from '../../src/views/run-view.ts'
import { itSays } from './sentences.ts'

describe('what status says of a run', () => {
  itSays(STATUS_TEXT, {
    stopsAfter: [
      ['stop it', 'no further prompt: it stops when its agent ends its turn; `stop it` stops it immediately'],
    ],
    wasOver: [['stalled', 'this run had already ended (stalled), so there was nothing to stop']],
    prompts: [
      [1, 40, '1 prompt, at most 40'],
      [2, 40, '2 prompts, at most 40'],
      [2, undefined, '2 prompts'],
    ],
    lastChange: [['2 h', 'last change 2 h ago']],
    visit: [[1, 3, 'visit 1 of 3']],
    attempt: [[1, 3, 'attempt 1 of 3']],
    step: [
      [2, 5, 'add the route', 1, 3, 'step 2 of 5: add the route, attempt 1 of 3'],
      [2, 5, '', 1, 3, 'step 2 of 5, attempt 1 of 3'],
    ],
    steps: [
      [[1, 2, 3], 5, [], 'in progress: steps 1, 2 and 3 of 5'],
      [[1, 2], 5, ['add the route', 'test it'], 'in progress: steps 1 and 2 of 5: add the route; test it'],
    ],
    place: [['plan', 'attempt 1 of 3', 'phase plan, attempt 1 of 3']],
    lastFailure: [
      ['no\nfile', false, 'last attempt: no file'],
      ['cut', true, 'a file from before: cut'],
    ],
    awaitsApproval: [
      [
        'specs/7_x/plan.md',
        'postflight workflow approve 7',
        'postflight workflow reject 7',
        'waits for approval: read specs/7_x/plan.md, then `postflight workflow approve 7` or `postflight workflow reject 7 --reason TEXT`',
      ],
    ],
    waits: [['the\nanswer', 'waits for: the answer']],
    resumes: [['postflight workflow resume 7', '`postflight workflow resume 7` continues it']],
    noRunFile: [
      [
        'postflight workflow resume 7',
        'its run file is missing, so no hook finds it: `postflight workflow resume 7` puts it back',
      ],
    ],
  })
})

describe('what history says of a transition', () => {
  itSays(HISTORY_TEXT, {
    visit: [[2, 'visit 2']],
    step: [[3, 'step 3']],
    attempt: [[2, 'attempt 2']],
    verdict: [['bug', 'verdict bug']],
    duration: [['plan', '5 min', 'worked on plan: 5 min']],
  })
})

describe('what next says', () => {
  itSays(NEXT_TEXT, {
    prompt: [
      ['make', undefined, 1, 'prompt: phase make, attempt 1'],
      ['make', 2, 3, 'prompt: phase make, step 2, attempt 3'],
    ],
    batch: [['make', [1, 2], 'prompt: phase make, steps 1 and 2 at the same time']],
    agent: [['cod\ner', 'agent: cod er']],
    model: [['hai\nku', 'model: hai ku']],
    wait: [['it waits', 'wait: it waits']],
    awaitsApproval: [
      [
        'plan',
        'specs/7_x/plan.md',
        'postflight workflow approve 7',
        'postflight workflow reject 7',
        'a person must approve the result of phase plan: read specs/7_x/plan.md, then `postflight workflow approve 7` or `postflight workflow reject 7 --reason TEXT`',
      ],
    ],
    finish: [
      ['completed', undefined, 'finish: completed'],
      ['stalled', 'the budget\nis spent', 'finish: stalled (the budget is spent)'],
    ],
  })
})

describe('what simulate says', () => {
  itSays(SIMULATE_TEXT, {
    path: [
      ['shortest', ['a', 'b'], 'completed', undefined, 'shortest: a → b → completed'],
      ['shortest', ['a'], undefined, 'too many', 'shortest: a → … (too many)'],
    ],
  })
})

describe('what check says', () => {
  itSays(PHASE_CHECK_TEXT, {
    passed: [['npm test', 1200, 'the check `npm test` passed (1.2 s)']],
    alreadyPassed: [['npm test', 'the check `npm test` has passed for these files, so it was not run again']],
    failed: [
      ['npm test', 'exit code 1', 12000, 'the check `npm test` failed (exit code 1; 12 s). The end of its output:'],
    ],
    running: [
      [
        'npm test',
        '12:00:00Z',
        'the check `npm test` has been running since 12:00:00Z: wait for it to end, then try again',
      ],
    ],
    notBound: [
      [[{ path: 'a', why: 'link' }], 'its result is not bound to a (a link): a change there does not make it void'],
      [
        [1, 2, 3, 4, 5, 6].map((number) => ({ path: `node_modules/${number}`, why: 'node_modules' })),
        'its result is not bound to node_modules/1 (node_modules), node_modules/2 (node_modules), node_modules/3 (node_modules), node_modules/4 (node_modules) and node_modules/5 (node_modules) and 1 other: a change there does not make it void',
      ],
    ],
    tooEarly: [
      [
        'npm test',
        'plan.md is missing',
        'the check `npm test` was not run, because the phase has no valid result yet: plan.md is missing',
      ],
    ],
    record: [
      ['npm test', undefined, 1200, 'check passed: npm test (1.2 s)'],
      ['npm test', 'exit code 1', 12000, 'check failed: npm test (exit code 1; 12 s)'],
    ],
    interrupted: [['npm test', 'the check `npm test` was interrupted, so nothing was counted']],
  })
})

describe('what validate says', () => {
  itSays(VALIDATE_TEXT, {
    faults: [
      [1, '1 fault'],
      [2, '2 faults'],
    ],
    valid: [['x', '1 phase, at most 3 prompts', 'x: 1 phase, at most 3 prompts']],
  })
})

describe('what start and resume say', () => {
  itSays(
    { trustedLine, startedLine },
    {
      trustedLine: [['npm\ntest', '  trusted from now on: npm test']],
      startedLine: [['flow', 'specs/7_x', '1 phase', 'started "flow" in specs/7_x: 1 phase']],
    },
  )
})
