import { describe } from 'vitest'
import {
  GIT_FINDINGS,
  HOOK_FINDINGS,
  HOST_FINDINGS,
  MARKER_FINDINGS,
  PLUGIN_FINDINGS,
  ROOT_FINDINGS,
  RUN_FINDINGS,
} from '../../src/setup/doctor/doctor-messages.ts'
import { itSays } from './sentences.ts'

describe('findings about the hook', () => {
  itSays(HOOK_FINDINGS, {
    installed: [['.claude/settings.json', 'the hook is installed in .claude/settings.json']],
    installedTwice: [
      [
        ['.claude/settings.json', '.claude/settings.local.json'],
        'at a cost',
        'the hook is installed more than once, in .claude/settings.json and .claude/settings.local.json: at a cost',
      ],
      [
        ['.claude/settings.json', '.claude/settings.local.json', '~/.claude/settings.json'],
        'at a cost',
        'the hook is installed more than once, in .claude/settings.json, .claude/settings.local.json and ~/.claude/settings.json: at a cost',
      ],
    ],
    hooksDisabled: [['.claude/settings.json', '.claude/settings.json sets disableAllHooks, so no hook runs']],
    guardDisabled: [
      [undefined, 'POSTFLIGHT_DISABLE=1 is set in the environment, so the hook allows every stop'],
      ['.claude/settings.json', 'POSTFLIGHT_DISABLE=1 is set in .claude/settings.json, so the hook allows every stop'],
    ],
    anotherCopy: [
      [
        '.claude/settings.json',
        '/old/hooks/postflight-hook',
        '.claude/settings.json starts another copy: /old/hooks/postflight-hook',
      ],
    ],
    listedTwice: [['.claude/settings.json', '.claude/settings.json lists the hook more than once']],
    otherCommand: [
      ['.claude/settings.json', '.claude/settings.json starts the hook by another command than `install` writes'],
    ],
    copyMissing: [
      [
        '.claude/settings.json',
        'no such file',
        ".claude/settings.json starts the project's own copy, which does not work here: no such file",
      ],
    ],
    installedByProject: [
      ['.claude/settings.json', "the project's own copy of the hook is installed in .claude/settings.json"],
    ],
    plugin: [['postflight-guard', 'hooks.json', 'the plugin postflight-guard brings the hook (hooks.json)']],
    pluginPlace: [['postflight-guard', 'the plugin postflight-guard']],
    shellHook: [
      [
        'bash guard.sh',
        '.claude/settings.json',
        'the hook "bash guard.sh" in .claude/settings.json looks for the same markers, so one stop of a sub-agent counts twice',
      ],
    ],
    reactive: [
      [1, '.claude/settings.json', '1 reactive rule in .claude/settings.json'],
      [2, '.claude/settings.json', '2 reactive rules in .claude/settings.json'],
    ],
    withoutWord: [
      [
        '.claude/settings.json',
        'Stop',
        '.claude/settings.json has an entry for Stop of an earlier version, which does not look for specs/done.yaml',
      ],
    ],
    incomplete: [['.claude/settings.json', '.claude/settings.json lists the hook for some of its events only']],
    missing: [['dist/hook.js', 'dist/hook.js is missing']],
    notExecutable: [['hooks/postflight-hook', 'hooks/postflight-hook is not executable']],
    answers: [['{}', 'the hook runs (it answered {})']],
    noAnswer: [['exit code 1', 'the hook does not answer (exit code 1)']],
  })
})

describe('findings about other hosts', () => {
  itSays(HOST_FINDINGS, {
    repair: [['Codex CLI', 'repair the file by hand: until then Codex CLI may ignore all of it']],
    installedTwice: [
      [
        'Codex CLI',
        ['a.json', 'b.json'],
        'Codex CLI runs the hook of each of a.json and b.json, so each stop counts several times',
      ],
      [
        'Codex CLI',
        ['a.json', 'b.json', 'c.json'],
        'Codex CLI runs the hook of each of a.json, b.json and c.json, so each stop counts several times',
      ],
    ],
    untrusted: [
      [
        '.codex/hooks.json',
        ['Stop', 'SessionStart'],
        'Codex does not trust the hooks of .codex/hooks.json yet (Stop, SessionStart), so it skips them silently',
      ],
    ],
    gemini: [
      [
        '.gemini/settings.json',
        '.gemini/settings.json starts the hook, but Gemini CLI is not supported: its events have other names, and a missing hook makes it prompt the model again and again',
      ],
    ],
    kimi: [
      [
        '~/.kimi/config.toml',
        '~/.kimi/config.toml starts the hook, but Kimi Code is not supported: it ignores the answer, so no stop is blocked',
      ],
    ],
  })
})

describe('findings about the plugin for OpenCode', () => {
  itSays(PLUGIN_FINDINGS, {
    listed: [['opencode.json', 'the plugin is listed in opencode.json']],
    anotherCopy: [
      ['opencode.json', '/old/postflight-guard.mjs', 'opencode.json lists another copy: /old/postflight-guard.mjs'],
    ],
    inSeveralFiles: [[['a.json', 'b.json'], 'the plugin is listed more than once, in a.json and b.json']],
    listedTwice: [['opencode.json', 'opencode.json lists the plugin more than once']],
    doesNotLoad: [['no such file', 'the plugin does not load (no such file)']],
  })
})

describe('findings about git', () => {
  itSays(GIT_FINDINGS, {
    notIgnored: [
      [
        'specs/7_x/.postflight-pending',
        'git does not ignore the files of postflight-guard, such as specs/7_x/.postflight-pending',
      ],
    ],
    tracked: [
      [['a'], 'git tracks a, but such files belong to one machine'],
      [['a', 'b', 'c'], 'git tracks a, b, c, but such files belong to one machine'],
      [['a', 'b', 'c', 'd', 'e'], 'git tracks a, b, c and 2 more, but such files belong to one machine'],
    ],
  })
})

describe('findings about the root', () => {
  itSays(ROOT_FINDINGS, {
    root: [['/p', 'the root is /p']],
    none: [['specs', '/p', 'no specs/ at or above /p yet: `postflight create` makes it']],
    notProject: [['specs', '/p', 'no specs/ at or above /p, which is not a project']],
  })
})

describe('findings about markers', () => {
  itSays(MARKER_FINDINGS, {
    pending: [
      ['specs/7_x/.postflight-pending', [], 'specs/7_x/.postflight-pending: pending'],
      [
        'specs/7_x/.postflight-pending',
        ['has no host session', 'is old'],
        'specs/7_x/.postflight-pending: pending; it has no host session; it is old',
      ],
    ],
    unreadable: [
      ['specs/7_x/.postflight-pending', ['is empty', 'is old'], 'specs/7_x/.postflight-pending is empty, is old'],
    ],
    abandoned: [
      ['specs/7_x/.postflight-pending', 'specs/7_x/.postflight-pending: abandoned, its postflight was never done'],
    ],
    unchecked: [['specs/7_x/.postflight-pending', 'specs/7_x/.postflight-pending: ended without its checks']],
    expired: [
      [
        'specs/7_x/.postflight-pending',
        '2 days',
        'specs/7_x/.postflight-pending: unowned and 2 days old, so it blocks no stop',
      ],
    ],
    uncountable: [
      [
        'specs/7_x/.postflight-pending',
        'its folder cannot be written',
        'specs/7_x/.postflight-pending: pending, but its folder cannot be written, so it blocks no stop',
      ],
    ],
    bypassed: [['specs/7_x/.postflight-pending', 'specs/7_x/.postflight-pending: bypassed, the next stop removes it']],
    old: [['specs/7_x/.postflight-pending', '2 days', 'specs/7_x/.postflight-pending: pending for 2 days']],
    stray: [['specs/7_x/.postflight-pending', 'specs/7_x/.postflight-pending lies where the hook does not look']],
    unparsed: [
      [
        'specs/7_x/.postflight-pending',
        ['is empty', 'is old'],
        'specs/7_x/.postflight-pending is empty, is old, so it blocks any sub-agent without saying what remains',
      ],
    ],
    repairOrClear: [['postflight clear 7', 'postflight clear 7 (its text is kept), or repair it by hand']],
    proveOrClear: [
      [
        'postflight done',
        'postflight clear done',
        'postflight done runs its checks; if it is no longer wanted: postflight clear done --unchecked',
      ],
    ],
    adoptOrClear: [['postflight adopt 7', 'postflight clear 7', 'postflight adopt 7, or postflight clear 7']],
    moveStray: [['specs', 'move it to specs/NNN_slug/, or remove it']],
    allowWriting: [['specs/7_x', 'let the user who runs the agent write there, for example: chmod u+wx specs/7_x']],
  })
})

describe('findings about runs', () => {
  itSays(RUN_FINDINGS, {
    about: [['specs/7_x', 'is running', 'specs/7_x: is running']],
    noRunFile: [
      [
        'workflow "flow" in specs/7_x',
        'workflow "flow" in specs/7_x, but its run file is missing, so no hook finds it',
      ],
    ],
    blocked: [
      [
        'workflow "flow" in specs/7_x',
        'its state is too large',
        'workflow "flow" in specs/7_x, but its state is too large, so it cannot continue',
      ],
    ],
    idle: [['workflow "flow" in specs/7_x', '3 days', 'workflow "flow" in specs/7_x, and has not moved for 3 days']],
    stalled: [
      ['workflow "flow" in specs/7_x', undefined, 'workflow "flow" in specs/7_x'],
      [
        'workflow "flow" in specs/7_x',
        'phase "make":\n3 attempts failed',
        'workflow "flow" in specs/7_x: phase "make": 3 attempts failed',
      ],
    ],
    resumeOrAbort: [
      [
        'postflight workflow resume 7',
        'postflight workflow stop 7',
        'postflight workflow resume 7, or postflight workflow stop 7',
      ],
    ],
  })
})
