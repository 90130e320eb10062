import { NEXT_TEXT } from '../../../src/cli/commands/workflow-next.ts'
import { PHASE_CHECK_TEXT, STATUS_TEXT } from '../../../src/run/run-messages.ts'
import { describeSentences, forms } from '../sentences.ts'

describeSentences('what status says of a run', STATUS_TEXT, {
  stopsAfter: [['stop it']],
  wasOver: [['stalled']],
  wasGivenUp: [[2]],
  givenUp: forms([['1 alpha'], 0, 'retry it'], [['1 alpha', '3 gam\nma'], 2, 'retry it']),
  prompts: forms([1, 40], [2, 40], [2, undefined]),
  lastChange: [['2 h']],
  visit: [[1, 3]],
  attempt: [[1, 3]],
  step: forms([2, 5, 'add the route', 1, 3], [2, 5, '', 1, 3]),
  steps: forms([[1, 2, 3], 5, []], [[1, 2], 5, ['add the route', 'test it']]),
  location: [['plan', 'attempt 1 of 3']],
  lastFailure: forms(['no\nfile', false], ['cut', true]),
  needsApproval: [['specs/7_x/plan.md', 'postflight workflow approve 7', 'postflight workflow reject 7']],
  waits: [['the\nanswer']],
  resumes: [['postflight workflow resume 7']],
  shared: forms(['up', undefined, false], ['up', '3 h', true]),
  notPublished: [['no\nway', 'publish it']],
  movedTo: [['resume it']],
  noRunFile: [['postflight workflow resume 7']],
})

describeSentences('what next says', NEXT_TEXT, {
  turnEnd: [['postflight workflow next 7']],
})

describeSentences('what check says', PHASE_CHECK_TEXT, {
  passed: [['npm test', 1200]],
  alreadyPassed: [['npm test']],
  failed: [['npm test', 'exit code 1', 12000]],
  running: [['npm test', '12:00:00Z']],
  notBound: forms(
    [[{ path: 'a', why: 'link' }]],
    [[1, 2, 3, 4, 5, 6].map((number) => ({ path: `node_modules/${number}`, why: 'node_modules' as const }))],
  ),
  tooEarly: [['npm test', 'plan.md is missing']],
  record: forms(['npm test', undefined, 1200], ['npm test', 'exit code 1', 12000]),
  interrupted: [['npm test']],
})
