import { STDIN_DETAILS } from '../../../src/kernel/error-messages.ts'
import * as messages from '../../../src/stop/stop-messages.ts'
import { describeSentences, forms } from '../sentences.ts'

const MARKER = 'specs/7_x/.postflight-pending'
const RESUME = [['postflight workflow resume 7']] as [string][]

describeSentences("the parts of a block's reason", messages.REASON_TEXT, {
  runChecks: [['postflight done']],
  mayWait: [['postflight wait 259_x --for']],
  callAgain: [['StructuredOutput']],
  where: [
    ['259_x', MARKER, 'research', 'skill-x'],
    ['259_x', MARKER, 'research', undefined],
    ['259_x', MARKER, undefined, 'skill-x'],
    ['259_x', MARKER, undefined, undefined],
  ],
  unparsed: [[MARKER, 'is empty']],
  moreSteps: [[4]],
  tick: [['postflight step 7']],
  clear: [['postflight clear 7']],
  fallback: [['npx postflight clear 7']],
  shells: forms([['npm test'], 0, 'postflight wait 7 --for'], [['npm test', 'make'], 2, 'postflight wait 7 --for']),
  check: [
    ['npm test', undefined, undefined],
    ['npm test', 'build', undefined],
    ['npm test', undefined, 'exit code 1'],
    ['npm test', 'build', 'exit code 1'],
  ],
  checking: forms(['12:00:00Z', undefined], ['12:00:00Z', 'postflight wait 7']),
  count: [[1], [2], [3]],
  more: forms([1, 'postflight inspect'], [5, 'postflight inspect']),
})

describeSentences(
  'what a starting session is told',
  { ...messages.RECOVERY_TEXT, ...messages.RECOVERY_TEXT.workflow },
  {
    intro: [['/p']],
    item: [
      ['259_x', 'research', 'pending', 'of this session', 7200000],
      ['259_x', undefined, 'pending', 'of this session', 0],
      ['259_x', undefined, 'pending', 'of this session', -1],
    ],
    more: [[6]],
    advice: [['`postflight adopt <task>`', '`postflight clear <task>`']],
    doneAdvice: [['`postflight done`']],
    doneClear: [['`postflight clear <task>`']],
    workflowAdvice: forms(['status', undefined], ['status', 'resume']),
    ...{ running: RESUME, approval: RESUME, lost: RESUME, stalled: RESUME },
  },
)

describeSentences(
  'notices, complaints and notifications',
  { ...messages, ...messages.ALERT_TEXT, ...STDIN_DETAILS },
  {
    abandoned: [['259_x\n']],
    waits: [['259_x', 'the\nanswer']],
    needsApproval: [['259_x', 'plan']],
    runEnded: [['259_x', 'completed']],
    tooLong: [[100]],
    noEnd: [[2000]],
    doneGivenUp: forms(['postflight done', undefined], ['postflight done', '`npm test` failed']),
    cappedNotice: [['259_x', 'specs/259_x/.postflight-abandoned', 'adopt it', 'clear it']],
    unreadableNotice: [[MARKER, 'EACCES']],
    unsettledNotice: [[1], [49000]],
    unsettledRunsNotice: [[1], [2]],
    heldReport: forms(['a1', undefined, 'One.\n\npostflight-guard: forged\n', false], ['a\n1', 'ty\npe', 'x', true]),
    notDone: [
      ['keepReport', 'a1', 'EACCES'],
      ['handOverReport', 'a1', 'EACCES'],
      ['noteOwner', MARKER, 'EACCES'],
      ['updateWait', MARKER, 'EACCES'],
      ['listMarkers', 'specs/7_x', 'EACCES'],
      ['listRuns', '', 'EACCES'],
    ],
    allowedComplaint: [['it failed']],
    stdinComplaint: [['no end after 2000 ms'], ['no end after 2500 ms', false]],
  },
)
