import { backupLine, initQuestion, notPortable } from '../../../src/setup/settings-messages.ts'
import { describeSentences, forms } from '../sentences.ts'

describeSentences(
  'what install and init say',
  { initQuestion, backupLine, notPortable },
  {
    backupLine: [['settings.json.postflight-backup']],
    notPortable: [['local']],
    initQuestion: forms(['hook', false], ['shell-hook', true]),
  },
)
