import * as messages from '../../../src/done/done-rules.ts'
import { describeSentences, forms } from '../sentences.ts'

const { DONE_REASON, askedOften, doneAtStart, doneNotJudged, searchEnded } = messages

describeSentences(
  'what a person is told of a definition of done',
  { askedOften, doneAtStart, doneNotJudged, searchEnded },
  {
    askedOften: [[3]],
    doneAtStart: forms(['untrusted', 'postflight trust'], ['changed', 'postflight trust']),
    doneNotJudged: forms(['/project/a\nb', 'EACCES\n', true], ['/project', 'EACCES', false]),
    searchEnded: [[`src/**\n${'x'.repeat(200)}`, 100_000, 2]],
  },
)

describeSentences('the reason of a stop that a definition of done blocks', DONE_REASON, {
  rule: forms(['src/**', ['src/a.ts', 'src/b\n.ts'], true], ['src/**', [], false]),
  more: [[1], [2]],
  notYours: [['postflight wait done --for']],
})
