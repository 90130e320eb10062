import { CLEAR_DETAILS, CLEAR_TEXT } from '../../../src/cli/clear-folder.ts'
import { OPTION_EXPECTATIONS, USAGE_TEXT } from '../../../src/cli/command.ts'
import { BYPASS_TEXT } from '../../../src/cli/commands/bypass.ts'
import { CREATE_NOTES } from '../../../src/cli/commands/create.ts'
import { EXPLAIN_TEXT } from '../../../src/cli/commands/explain.ts'
import { LOGS_TEXT } from '../../../src/cli/commands/logs.ts'
import { STEP_TEXT } from '../../../src/cli/commands/step.ts'
import { CONFLICTING_OWNERS } from '../../../src/cli/marker-owner.ts'
import { INSPECT_TEXT } from '../../../src/marker/check-messages.ts'
import { notInJournal } from '../../../src/project/journal-entry.ts'
import { describeSentences, forms } from '../sentences.ts'

describeSentences('the words of explain', EXPLAIN_TEXT, {
  noPayload: [[undefined], ['sess-1'], ["s'; rm -r x"]],
  whose: forms(['s1', 'main'], [undefined, undefined], ['s\n1', 'a\n7']),
  roots: [[['/p']], [['/p', '/q']]],
  marker: forms(
    ['specs/7_x/.postflight-pending', 4, 'expired', 'it is old'],
    ['specs/7_x/.postflight-pending', null, null, 'it is old'],
  ),
  run: [['specs/7_x/.postflight-workflow.json', 'it continues']],
  rule: forms(['docs', true, ['docs/a.md', 'docs/b.md']], ['docs', false, []]),
  unreadable: [['EACCES']],
  notified: [['the stop\nwas allowed']],
  notAStop: [['PostToolUse']],
  'answer-ignored': [['Kimi Code']],
  'own-agent': [['OpenCode']],
})

describeSentences('the notes of create', CREATE_NOTES, {
  newRoot: [['/home/me/my\nproject']],
  droppedSteps: [[['commit', 'push']]],
})

describeSentences('the owner of a marker in the way', CONFLICTING_OWNERS, {
  hostSession: [['s1']],
  skillSession: [['sess_1']],
  unowned: [['sess_1'], [undefined]],
})

describeSentences('the details of journal lines', CLEAR_DETAILS, {
  settledRun: [['f\nlow', 'failed']],
  leftSteps: [[['commit', 'push']]],
})

describeSentences('the words of clear', CLEAR_TEXT, {
  abandoned: [['specs/7_x/.postflight-abandoned', 'clear it']],
  noFolder: [['7', '/p']],
  cleared: forms(['specs/7_x', ['a', 'b'], ['kept', 'late'], false], ['specs/7_x', ['a'], [], true]),
  leftSteps: [[['commit', 'push']]],
  keptTexts: forms([['a', 'b'], false], [['a'], true]),
  ofOtherSession: [['s\n2']],
  settled: forms(['specs/7_x', 'removed', false], ['specs/7\n_x', 'abandoned', true]),
  settledRun: forms(
    ['specs/7_x', 'flow', 'failed', 'resume it', false],
    ['specs/7\n_x', 'f\nlow', 'aborted', null, true],
  ),
  ownRun: [['specs/7_x', 'flow', 'failed', 'clear it']],
  runGoesOn: [['specs/7_x', 'stop it']],
  notCleared: [['specs/7_x', 'EACCES']],
})

describeSentences('the words of bypass', BYPASS_TEXT, {
  nextStop: [['specs/7_x']],
  stopped: [['specs/7_x', 'resume it']],
})

describeSentences('the words of step', STEP_TEXT, {
  line: forms(
    [1, 'git commit', { done: true, isSame: false, remaining: 0 }],
    [1, 'git commit', { done: false, isSame: false, remaining: 2 }],
    [1, 'git commit', { done: true, isSame: true, remaining: 0 }],
    [1, 'git commit', { done: false, isSame: true, remaining: 2 }],
  ),
})

describeSentences('the words of inspect', INSPECT_TEXT, {
  noMarkers: [['/p/specs']],
  age: [['3 h']],
  spent: [[1, 3]],
  owner: forms(['s1', null, null], ['s1', 'a7', 'coder']),
  reason: [['status update']],
  waits: [['the answer']],
  check: forms(['npm test', null], ['npm test', 'exit code 1']),
  unreadable: [['EACCES']],
  noCount: [['not a number']],
})

describeSentences('the words of logs', LOGS_TEXT, { continuation: [['2 of 3']], session: [['s1']], agent: [['a7']] })

describeSentences(
  'a problem of the journal',
  { notInJournal },
  {
    notInJournal: [
      [{ kind: 'not-recorded', detail: 'EACCES' }, 'postflight'],
      [{ kind: 'not-rotated', detail: 'EACCES' }, 'postflight-guard'],
    ],
  },
)

describeSentences('errors of usage', USAGE_TEXT, {
  missingCommand: [['postflight --help']],
  missingOption: [['--definition', 'postflight workflow start --help']],
  parserSays: forms(["unknown option '--forse'", 'postflight --help'], ['Too many arguments.', 'postflight --help']),
  meantOption: [['all\n', '--all']],
  didYouMean: [[['clear']], [['clear', 'create']]],
})

describeSentences('what the value of an option must be', OPTION_EXPECTATIONS, {
  atMostCharacters: [[200]],
  roomForChecks: [[19, 20]],
  seconds: [[999_999]],
  atMostTimes: [[20]],
  oneOf: [[['user', 'project', 'local']]],
  failures: [[['plan', 'work/1 to work/3']], [[]], [[`a${'b'.repeat(600)}`]]],
  phaseCase: [[['triage=bug', 'triage=idea']], [[]]],
  phaseSteps: [[['work', 'list'], 1000]],
  checkOfStep: [['git commit']],
})
