import { describe } from 'vitest'
import * as messages from '../../../src/run/run-messages.ts'
import { describeSentences, forms, itSays } from '../sentences.ts'

describe('the parts of a prompt', () => {
  const PART = { step: 1, agent: undefined, model: undefined, prompt: 'Do one.' }
  itSays(messages.PROMPT_TEXT, {
    standard: [[true], [false]],
    title: forms(['flow', '7_x', 'make', undefined, 1, 3], ['flow', '7_x', 'make', 'step 2 of 5', 2, 3]),
    failure: [['no file']],
    earlierFailure: [['too short']],
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
  'the number of a step',
  { stepWords: messages.stepWords },
  { stepWords: forms([[2], 5], [[2], 5, ['test']], [[1, 3], 5, ['test', '', 'push']]) },
)
