import { backupLine, cachedCopy, initQuestion, notPortable } from '../../../src/setup/settings-messages.ts'
import { describeSentences, forms } from '../sentences.ts'

describeSentences(
  'what install and init say',
  { initQuestion, backupLine, notPortable, cachedCopy },
  {
    backupLine: [['settings.json.postflight-backup']],
    notPortable: [['local']],
    cachedCopy: [['/home/me/.npm/_npx/1/node_modules/postflight-guard']],
    initQuestion: forms(['hook', false], ['shell-hook', true]),
  },
)
