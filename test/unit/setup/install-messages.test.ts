import { describe } from 'vitest'
import { INIT_TEXT, INSTALL_TEXT } from '../../../src/setup/settings-messages.ts'
import { itSays } from '../sentences.ts'

describe('what install and uninstall say', () => {
  itSays(INSTALL_TEXT, {
    installed: [
      ['hook', '.claude/settings.json', false],
      ['plugin', 'opencode.json', true],
    ],
    alreadyInstalled: [
      ['hook', '.claude/settings.json'],
      ['reactive rules', '.claude/settings.json'],
    ],
    keptRules: [
      ['s.json', 1],
      ['s.json', 3],
    ],
    stillIn: [['plugin', 'opencode.json', 'postflight uninstall --host opencode']],
    backup: [['settings.json.postflight-backup']],
    notPortable: [['local']],
    removed: [
      ['hook', { entry: true, reactive: false, permissions: false }, '.claude/settings.json', false],
      ['hook', { entry: false, reactive: false, permissions: false }, '.claude/settings.json', true],
      ['hook', { entry: false, reactive: true, permissions: false }, '.claude/settings.json', false],
      ['hook', { entry: false, reactive: false, permissions: true }, '.claude/settings.json', false],
      ['hook', { entry: true, reactive: true, permissions: true }, '.claude/settings.json', true],
      ['plugin', { entry: true, reactive: false, permissions: false }, 'opencode.json', false],
    ],
    removedLines: [
      ['.gitignore', false],
      ['.gitignore', true],
    ],
    removedWhole: [
      ['SKILL.md', false],
      ['SKILL.md', true],
    ],
    keptSkill: [['.claude/skills/postflight/SKILL.md', "'SKILL.md'"]],
    keptBackup: [['settings.json.postflight-backup']],
    removedFile: [
      ['.claude/settings.json', false],
      ['.claude/settings.json', true],
    ],
    notInstalled: [
      ['hook', ['.claude/settings.json']],
      ['plugin', ['opencode.json', 'opencode.jsonc']],
    ],
  })
})

describe('what init says', () => {
  itSays(INIT_TEXT, {
    intro: [[1], [4]],
    question: [['hook'], ['shell-hook']],
    noHook: [['install it']],
    shellHookElsewhere: [['bash\na.sh', 's.json', 'take it out']],
    shellHookEntry: [['bash a.sh\n\u001b[2J']],
    numbered: [[1, 'The hook']],
    line: [
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
    ],
    dependencyOutside: [['file:../postflight-guard-0.1.0.tgz']],
    ignoredSettings: [['.claude/settings.json:1:1: invalid JSON (a comment).']],
    skillSource: [['/p/SKILL.md']],
    trust: [[true], [false]],
    undo: [
      ['project', true],
      ['user', false],
    ],
    skillMark: [['1a2b']],
  })
})

describe('the parts of init', () => {
  itSays(INIT_TEXT.part, {
    hook: [['.claude/settings.json']],
    'shell-hook': [['.claude/settings.json']],
    permissions: [['.claude/settings.json']],
    gitignore: [['.gitignore']],
    skill: [['SKILL.md']],
    done: [['specs/done.yaml']],
  })
})
