import { describe } from 'vitest'
import * as messages from '../../../src/run/run-messages.ts'
import { describeSentences, forms, itSays } from '../sentences.ts'

describeSentences('the reasons for the state of a run', messages.WORKFLOW_TEXT, {
  noArtifact: [['plan.md']],
  noStepResult: [['step-1.json']],
  stepSaysFailed: [['step-1.json']],
  stepExhausted: forms([2, 1, 'no file'], [2, 3, 'no file']),
  tooManyFailed: forms([1, 1, 'step 1 failed'], [3, 3, 'step 3 failed'], [2, 3, 'step 3 failed']),
  promptsSpent: forms([1, 1, 1, '7'], [9, 3, 10, '7']),
  minutesSpent: forms([1, '7'], [60, '7']),
  rejected: [['too short']],
  exhausted: forms([1, 'no file'], [3, 'no file']),
  visitsSpent: forms(['plan', 1], ['plan', 3]),
  endedOnFail: [['review']],
  sentBack: [['review', 'fail']],
  wentOnWithout: forms([1, '7'], [2, '007_a b']),
  needsApproval: [['7_x', 'specs/007_x/plan.md', 'postflight workflow approve 7', 'postflight workflow reject 7']],
  running: [['flow', 'phase plan, attempt 1 of 3']],
  over: [['flow', 'stalled']],
  ended: forms(['7', 'completed', undefined, undefined], ['7', 'stalled', 'spent', 'r']),
  unusable: [['specs/7_x', 'EACCES']],
  unfinished: [['7_x']],
  heard: [['7_x', 'postflight workflow stop 7_x --now']],
  checkNotRun: [['npm test', 'postflight workflow check 7']],
  checkVoid: [['npm test', 'src/a.ts', 'postflight workflow check 7']],
  checkFailed: [['npm test', { kind: 'exited', exitCode: 1 }, 'postflight workflow check 7']],
  kind: [['plan.md', 'a folder']],
  unreadable: [['plan.md', 'EACCES']],
  tooSmall: forms(['plan.md', 1, 200], ['plan.md', 20, 200]),
  tooLarge: [['plan.md', 1048576]],
  notJson: [['plan.json', 'Unexpected token']],
  notStepResult: [['step-1.json']],
  breach: forms(['a.json', '', 'type', 'object'], ['a.json', '/b', 'minItems', '1'], ['a.json', '/b', 'false', '']),
  checkTooLong: [['a.json', 250_000]],
  noVerdict: [['r.json', '/passed']],
  noCase: [['r.json', '/kind', '"bug", "idea"']],
  noStepsFile: [['plan.json']],
  mendSteps: [['plan.json is not JSON']],
  thenResume: [['plan.json is missing: create it', '7']],
  noSteps: [['plan.json', '/steps']],
  noTasks: [['plan.md']],
  tooDeep: [['plan.json']],
  notUtf8: [['plan.json']],
  tooManySteps: [['plan.json', 300, 200]],
})

describeSentences('who drives a run', messages.DRIVER_TEXT, {
  drives: [['s1']],
  noSession: [['postflight workflow resume 7']],
  askForEach: [['postflight workflow next 7']],
  endTurn: [['postflight workflow next 7']],
  noHook: [['the hook is not installed', 'postflight install', 'postflight workflow next 7']],
  afterInit: [['postflight workflow next 7']],
  inWorktree: [['/p']],
  takenFrom: [['s1']],
  isElsewhere: forms(['s1', 'see', 'resume', true], ['s1', 'see', 'resume', false]),
})

describe('the parts of a prompt', () => {
  const PART = { step: 1, agent: undefined, model: undefined, prompt: 'Do one.' }
  itSays(messages.PROMPT_TEXT, {
    standard: [[true], [false]],
    title: forms(['flow', '7_x', 'make', undefined, 1, 3], ['flow', '7_x', 'make', 'step 2 of 5', 2, 3]),
    failure: [['no file']],
    before: [['cut']],
    ledBy: forms(['a', undefined, undefined, 1], ['a', 'fail', undefined, 2], ['a', 'fail', 'too short', 1]),
    previousArtifact: [['old/plan.md']],
    artifact: forms(['plan.md', []], ['plan.json', ['it must be JSON', 'it must have at least 2 bytes']]),
    minBytes: [[1], [200]],
    schema: [['{"type":"object"}']],
    verdict: [['/passed']],
    caseVerdict: forms(['/kind', ['bug', 'idea'], false], ['/kind', ['bug'], true]),
    batchTitle: [['flow', '7_x', 'make', 'steps 1, 2 and 3 of 5']],
    batch: [[[PART, { step: 2, agent: 'coder', model: 'haiku', prompt: 'Do two.' }], 'End.']],
    stepSchema: [['{"type":"object"}']],
    stepResult: [['step-1.json']],
    check: [['npm test', 'postflight workflow check 7']],
    dispatch: forms([undefined, undefined], [undefined, 'haiku'], ['coder', undefined], ['coder', 'haiku']),
    askToWait: forms(['7_x', ['a'], 'wait'], ['7_x', ['a', 'b', 'c', 'd', 'e', 'f'], 'wait']),
    follows: [['Workflow "flow".', 'stop it']],
    inFile: [['specs/7_x/.postflight-prompt.md']],
  })
})

describeSentences(
  'counts of phases and steps',
  { definitionSize: messages.definitionSize, stepWords: messages.stepWords },
  {
    definitionSize: forms([2, 0, 3], [1, 6, 21], [1, undefined, 9]),
    stepWords: forms([[2], 5], [[2], 5, ['test']], [[1, 3], 5, ['test', '', 'push']]),
  },
)

describeSentences('the labels of a diagram', messages.GRAPH_TEXT, {
  steps: [[1], [2]],
  stepsFrom: [['plan.json']],
  atOnce: [[3]],
})

describeSentences('what a person did', messages.STEERING_TEXT, { passedOver: [['c']] })

describeSentences('what the journal says of a run', messages.RUN_RECORDS, {
  started: [['flow']],
  prompt: forms(['a', undefined, 1, false], ['a', 'step 2 of 5', 3, true], ['a', 'steps 1 and 2', undefined, false]),
})
