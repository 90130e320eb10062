import { NEXT_TEXT } from '../../../src/cli/commands/workflow-next.ts'
import { describeSentences, forms } from '../sentences.ts'

describeSentences('what next says', NEXT_TEXT, {
  turnEnd: [['postflight workflow next 7']],
})
