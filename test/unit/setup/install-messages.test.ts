import { backupLine, INIT_TEXT, notPortable } from '../../../src/setup/settings-messages.ts'
import { describeSentences, forms } from '../sentences.ts'

describeSentences(
  'what install and init say',
  { ...INIT_TEXT, backupLine, notPortable },
  {
    backupLine: [['settings.json.postflight-backup']],
    notPortable: [['local']],
    question: forms(['hook', false], ['shell-hook', true]),
  },
)
