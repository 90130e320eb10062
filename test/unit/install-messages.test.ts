import { describe } from 'vitest'
import { INIT_TEXT, INSTALL_TEXT } from '../../src/setup/settings-messages.ts'
import { itSays } from './sentences.ts'

describe('what install and uninstall say', () => {
  itSays(INSTALL_TEXT, {
    installed: [
      ['hook', '.claude/settings.json', false, 'Installed the hook in .claude/settings.json'],
      ['plugin', 'opencode.json', true, 'Would install the plugin in opencode.json'],
    ],
    alreadyInstalled: [
      ['hook', '.claude/settings.json', 'The hook is already in .claude/settings.json'],
      ['reactive rules', '.claude/settings.json', 'The reactive rules are already in .claude/settings.json'],
    ],
    keptRules: [
      [
        's.json',
        1,
        'Kept a permission rule about postflight in s.json, because no record says that `postflight init` added it',
      ],
      [
        's.json',
        3,
        'Kept 3 permission rules about postflight in s.json, because no record says that `postflight init` added them',
      ],
    ],
    stillIn: [
      [
        'plugin',
        'opencode.json',
        'postflight uninstall --host opencode',
        'The plugin is still in opencode.json: `postflight uninstall --host opencode` removes it',
      ],
    ],
    backup: [['settings.json.postflight-backup', 'Backup: settings.json.postflight-backup']],
    notPortable: [
      [
        'local',
        'This entry names a path on this machine: for shared settings, make postflight-guard a dev dependency of the project, or use --scope local',
      ],
    ],
    removed: [
      [
        'hook',
        { entry: true, reactive: false, permissions: false },
        '.claude/settings.json',
        false,
        'Removed the hook from .claude/settings.json',
      ],
      [
        'hook',
        { entry: false, reactive: false, permissions: false },
        '.claude/settings.json',
        true,
        'Would remove the hook from .claude/settings.json',
      ],
      [
        'hook',
        { entry: false, reactive: true, permissions: false },
        '.claude/settings.json',
        false,
        'Removed the reactive rules from .claude/settings.json',
      ],
      [
        'hook',
        { entry: false, reactive: false, permissions: true },
        '.claude/settings.json',
        false,
        'Removed our permission rules from .claude/settings.json',
      ],
      [
        'hook',
        { entry: true, reactive: true, permissions: true },
        '.claude/settings.json',
        true,
        'Would remove the hook, the reactive rules and our permission rules from .claude/settings.json',
      ],
      [
        'plugin',
        { entry: true, reactive: false, permissions: false },
        'opencode.json',
        false,
        'Removed the plugin from opencode.json',
      ],
    ],
    removedLines: [
      ['.gitignore', false, 'Removed our lines from .gitignore'],
      ['.gitignore', true, 'Would remove our lines from .gitignore'],
    ],
    removedWhole: [
      ['SKILL.md', false, 'Removed SKILL.md'],
      ['SKILL.md', true, 'Would remove SKILL.md'],
    ],
    keptSkill: [
      [
        '.claude/skills/postflight/SKILL.md',
        "'SKILL.md'",
        "Kept .claude/skills/postflight/SKILL.md, because it was changed after `postflight init` wrote it. To remove it: `rm 'SKILL.md'`",
      ],
    ],
    keptBackup: [
      [
        'settings.json.postflight-backup',
        'Kept the backup settings.json.postflight-backup, because it differs from the file',
      ],
    ],
    removedFile: [
      ['.claude/settings.json', false, 'Removed .claude/settings.json: it held nothing else'],
      ['.claude/settings.json', true, 'Would remove .claude/settings.json: it held nothing else'],
    ],
    notInstalled: [
      ['hook', ['.claude/settings.json'], 'The hook is not in .claude/settings.json'],
      ['plugin', ['opencode.json', 'opencode.jsonc'], 'The plugin is not in opencode.json or opencode.jsonc'],
    ],
  })
})

describe('what init says', () => {
  itSays(INIT_TEXT, {
    intro: [
      [1, 'postflight init sets this project up for Claude Code in 1 part. Nothing is written before the last answer.'],
      [
        4,
        'postflight init sets this project up for Claude Code in 4 parts. Nothing is written before the last answer.',
      ],
    ],
    question: [
      ['hook', '   Write this? [Y/n] '],
      ['shell-hook', '   Take this out? [Y/n] '],
    ],
    noHook: [['install it', 'Without the hook, no stop is blocked. To add it: install it']],
    shellHookElsewhere: [
      [
        'bash\na.sh',
        's.json',
        'take it out',
        'Warning: "bash a.sh" in s.json looks for the same markers, so one stop of a sub-agent counts twice. Everybody who uses that file loses it with: take it out',
      ],
    ],
    shellHookEntry: [['bash a.sh\n\u001b[2J', '  SubagentStop: bash a.sh [2J']],
    numbered: [[1, 'The hook', '1. The hook']],
    line: [
      ['hook', 'written', '.claude/settings.json', '✓ the hook: .claude/settings.json (written)'],
      [
        'permissions',
        'planned',
        '.claude/settings.json',
        '· permission rules: .claude/settings.json (would be written)',
      ],
      ['shell-hook', 'written', 's.json', '✓ the entry of a shell hook: s.json (taken out)'],
      ['shell-hook', 'planned', 's.json', '· the entry of a shell hook: s.json (would be taken out)'],
      ['shell-hook', 'declined', 's.json', '· the entry of a shell hook: s.json (left there)'],
      ['gitignore', 'done', '.gitignore', '✓ lines for git: .gitignore (already there)'],
      ['skill', 'kept', 'SKILL.md', '· a skill: SKILL.md (kept: it differs from the file that init writes)'],
      [
        'skill',
        'outside',
        'SKILL.md',
        '· a skill: SKILL.md (not written: a link leads this file out of the project, or to nothing)',
      ],
      ['skill', 'declined', 'SKILL.md', '· a skill: SKILL.md (not written)'],
      ['gitignore', 'needless', '.gitignore', '· lines for git: .gitignore (not needed: this is not a git repository)'],
    ],
    dependencyOutside: [
      [
        'file:../postflight-guard-0.1.0.tgz',
        'Warning: package.json names postflight-guard by "file:../postflight-guard-0.1.0.tgz", which is outside this repository, so `npm ci` fails on every other machine. Copy the tarball into the repository, for example into vendor/, and install that file.',
      ],
    ],
    ignoredSettings: [
      [
        '.claude/settings.json:1:1: invalid JSON (a comment).',
        'Warning: Claude Code ignores all settings in a file that it cannot read. .claude/settings.json:1:1: invalid JSON (a comment).',
      ],
    ],
    skillSource: [['/p/SKILL.md', '  the text of /p/SKILL.md']],
    trust: [
      [true, 'Read specs/done.yaml, then let it take effect: npx postflight trust'],
      [false, 'Read specs/done.yaml, then let it take effect: postflight trust'],
    ],
    undo: [
      ['project', true, 'To undo all of it: npx postflight uninstall --scope project'],
      ['user', false, 'To undo all of it: postflight uninstall --scope user'],
    ],
    skillMark: [['1a2b', '<!-- postflight init wrote this file (1a2b), and `postflight uninstall` removes it. -->']],
  })
})

describe('the parts of init', () => {
  itSays(INIT_TEXT.part, {
    hook: [
      [
        '.claude/settings.json',
        'The hook, in .claude/settings.json: entries that start it when an agent stops, when a session starts, and after commands that name postflight.',
      ],
    ],
    'shell-hook': [
      [
        '.claude/settings.json',
        'To take out of .claude/settings.json: an entry of a shell hook that looks for the same markers. With both, one stop of a sub-agent counts twice. Its script stays, and a backup of the file keeps the entry: `postflight uninstall` does not put it back. Everybody who uses that file loses the shell hook.',
      ],
    ],
    permissions: [
      [
        '.claude/settings.json',
        'Permission rules, in .claude/settings.json: agents may use the commands of the protocol without asking (create, step, wait, clear, …). Claude Code still asks you about the ones that can start other programs (--check, --step-check, --run-checks, --trust, workflow start, workflow resume, install).',
      ],
    ],
    gitignore: [
      ['.gitignore', 'Lines in .gitignore, so that git ignores markers, the journal and the backups of settings.'],
    ],
    skill: [
      [
        'SKILL.md',
        'A skill, SKILL.md: it teaches agents how to create, tick and clear a marker, how to wait, and what a block means.',
      ],
    ],
    done: [
      [
        'specs/done.yaml',
        'A definition of done, specs/done.yaml: when an agent changed these files, its stop is blocked until the checks have succeeded. It has no effect before you run `postflight trust`.',
      ],
    ],
  })
})
