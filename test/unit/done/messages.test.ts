import { describe } from 'vitest'
import * as messages from '../../../src/done/done-rules.ts'
import { forms, itSays } from '../sentences.ts'

const { DONE_REASON, RULES_TEXT, askedOften, doneAtStart, doneNotJudged, searchEnded } = messages

describe('what a person is told of a definition of done', () => {
  itSays(
    { askedOften, doneAtStart, doneNotJudged, searchEnded },
    {
      askedOften: [[3]],
      doneAtStart: forms(['untrusted', 'postflight trust'], ['changed', 'postflight trust']),
      doneNotJudged: [['/project/a\nb', 'EACCES\n']],
      searchEnded: [[`src/**\n${'x'.repeat(200)}`, 100_000, 2]],
    },
  )
})

describe('the reason of a stop that a definition of done blocks', () => {
  itSays(DONE_REASON, {
    rule: forms(['src/**', ['src/a.ts', 'src/b\n.ts'], true], ['src/**', [], false]),
    more: [[1], [2]],
    notYours: [['postflight wait done --for']],
  })
})

describe('the faults of rules', () => {
  itSays(RULES_TEXT, {
    tooManyRules: [[20]],
    tooManyChecks: [[20]],
    texts: [[true], [false]],
    tooLong: [[200]],
    pattern: [['../x']],
    patternsTooWide: [[300, 3]],
    name: [[80]],
  })
})
