import { initQuestion, notPortable } from '../../../src/setup/settings-messages.ts'
import { describeSentences, forms } from '../sentences.ts'

describeSentences(
  'what install and init say',
  { initQuestion, notPortable },
  { notPortable: [['local']], initQuestion: forms(['hook', false], ['shell-hook', true]) },
)
