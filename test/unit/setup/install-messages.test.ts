import { INIT_TEXT, INSTALL_TEXT } from '../../../src/setup/settings-messages.ts'
import { describeSentences, forms } from '../sentences.ts'

/** What `uninstall` took out. */
const removed = (entry: boolean, reactive = false, permissions = false) => ({ entry, reactive, permissions })

describeSentences('what install and uninstall say', INSTALL_TEXT, {
  installed: forms(['hook', '.claude/settings.json', false], ['plugin', 'opencode.json', true]),
  alreadyInstalled: forms(['hook', '.claude/settings.json'], ['reactive rules', '.claude/settings.json']),
  keptRules: forms(['s.json', 1], ['s.json', 3]),
  keptDone: [['specs/done.yaml', "'specs/done.yaml'"]],
  keptMarkers: forms([1, 'specs', true, 'clear --all'], [2, 'specs', false, 'clear --all']),
  stillIn: [['plugin', 'opencode.json', 'postflight uninstall --host opencode']],
  backup: [['settings.json.postflight-backup']],
  notPortable: [['local']],
  removed: forms(
    ['hook', removed(true), '.claude/settings.json', false],
    ['hook', removed(false), '.claude/settings.json', true],
    ['hook', removed(false, true), '.claude/settings.json', false],
    ['hook', removed(false, false, true), '.claude/settings.json', false],
    ['hook', removed(true, true, true), '.claude/settings.json', true],
    ['plugin', removed(true), 'opencode.json', false],
  ),
  removedLines: forms(['.gitignore', false], ['.gitignore', true]),
  removedWhole: forms(['SKILL.md', false], ['SKILL.md', true]),
  keptSkill: [['.claude/skills/postflight/SKILL.md', "'SKILL.md'"]],
  keptBackup: [['settings.json.postflight-backup']],
  removedFile: forms(['.claude/settings.json', false], ['.claude/settings.json', true]),
  notInstalled: forms(['hook', ['.claude/settings.json']], ['plugin', ['opencode.json', 'opencode.jsonc']]),
})

describeSentences('what init says', INIT_TEXT, {
  intro: [[1], [4]],
  question: forms(['hook', false], ['shell-hook', true]),
  noHook: [['install it']],
  shellHookElsewhere: [['bash\na.sh', 's.json', 'take it out']],
  shellHookEntry: [['bash a.sh\n\u001b[2J']],
  numbered: [[1, 'The hook']],
  line: forms(
    ['hook', 'written', '.claude/settings.json'],
    ['permissions', 'planned', '.claude/settings.json'],
    ['shell-hook', 'written', 's.json'],
    ['shell-hook', 'planned', 's.json'],
    ['shell-hook', 'declined', 's.json'],
    ['gitignore', 'done', '.gitignore'],
    ['skill', 'kept', 'SKILL.md'],
    ['skill', 'outside', 'SKILL.md'],
    ['skill', 'declined', 'SKILL.md'],
    ['gitignore', 'needless', '.gitignore'],
  ),
  dependencyOutside: [['file:../postflight-guard-0.1.0.tgz']],
  ignoredSettings: [['.claude/settings.json:1:1: invalid JSON (a comment).']],
  skillSource: [['/p/SKILL.md']],
  trust: forms(['trust it', true], ['trust it', false]),
  undo: forms(['undo it', true], ['undo it', false]),
  skillMark: [['1a2b']],
})

describeSentences('the parts of init', INIT_TEXT.part, {
  hook: [['.claude/settings.json']],
  'shell-hook': [['.claude/settings.json']],
  permissions: [['.claude/settings.json']],
  gitignore: [['.gitignore']],
  skill: [['SKILL.md']],
  done: [['specs/done.yaml']],
})
