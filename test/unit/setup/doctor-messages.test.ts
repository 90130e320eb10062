import { HOOK_HOSTS, UNSUPPORTED_HOSTS } from '../../../src/hosts/hook-hosts.ts'
import {
  GIT_FINDINGS,
  HOOK_FINDINGS,
  HOST_FINDINGS,
  MARKER_FINDINGS,
  PLUGIN_FINDINGS,
  ROOT_FINDINGS,
  RUN_FINDINGS,
} from '../../../src/setup/doctor/doctor-messages.ts'
import { describeSentences, forms } from '../sentences.ts'

const MARKER = 'specs/7_x/.postflight-pending'
const RUN = 'workflow "flow" in specs/7_x'

describeSentences('findings about the hook', HOOK_FINDINGS, {
  installed: [['.claude/settings.json']],
  installedTwice: forms(
    [['.claude/settings.json', '.claude/settings.local.json'], 'at a cost'],
    [['.claude/settings.json', '.claude/settings.local.json', '~/.claude/settings.json'], 'at a cost'],
  ),
  hooksDisabled: [['.claude/settings.json']],
  hooksForbidden: [['/etc/claude-code/managed-settings.json']],
  guardDisabled: [[undefined], ['.claude/settings.json']],
  anotherCopy: [['.claude/settings.json', '/old/hooks/postflight-hook']],
  listedTwice: [['.claude/settings.json']],
  otherCommand: [['.claude/settings.json']],
  copyMissing: [['.claude/settings.json', 'no such file']],
  installedByProject: [['.claude/settings.json']],
  plugin: [['postflight-guard', 'hooks.json']],
  pluginLocation: [['postflight-guard']],
  shellHook: [['bash guard.sh', '.claude/settings.json']],
  reactive: forms([1, '.claude/settings.json'], [2, '.claude/settings.json']),
  withoutWord: [['.claude/settings.json', 'Stop']],
  incomplete: [['.claude/settings.json']],
  differs: [['.claude/settings.json']],
  missing: [['dist/hook.js']],
  notExecutable: [['hooks/postflight-hook']],
  answers: [['{}']],
  noAnswer: [['exit code 1']],
})

describeSentences('findings about other hosts', HOST_FINDINGS, {
  repair: [['Codex CLI']],
  installedTwice: forms(['Codex CLI', ['a.json', 'b.json']], ['Codex CLI', ['a.json', 'b.json', 'c.json']]),
  unsupported: UNSUPPORTED_HOSTS.map(({ file, title, why }) => [file, title, why]),
})

describeSentences('findings about hooks that Codex does not trust', HOOK_HOSTS.codex.trust.record, {
  untrusted: [['.codex/hooks.json', ['Stop', 'SessionStart']]],
})

describeSentences('findings about the plugin for OpenCode', PLUGIN_FINDINGS, {
  listed: [['opencode.json']],
  anotherCopy: [['opencode.json', '/old/postflight-guard.mjs']],
  ownCopyMissing: [['opencode.json']],
  inSeveralFiles: [[['a.json', 'b.json']]],
  listedTwice: [['opencode.json']],
  doesNotLoad: [['no such file']],
})

describeSentences('findings about git', GIT_FINDINGS, {
  notIgnored: [[MARKER]],
  tracked: [[['a']], [['a', 'b', 'c']], [['a', 'b', 'c', 'd', 'e']]],
})

describeSentences('findings about the root', ROOT_FINDINGS, {
  root: [['/p']],
  none: [['specs', '/p']],
  notProject: [['specs', '/p']],
})

describeSentences('findings about markers', MARKER_FINDINGS, {
  pending: forms([MARKER, []], [MARKER, ['has no host session', 'is old']]),
  unreadable: [[MARKER, ['is empty', 'is old']]],
  abandoned: [[MARKER]],
  unchecked: [[MARKER]],
  expired: [[MARKER, '2 days']],
  uncountable: [[MARKER, 'its folder cannot be written']],
  bypassed: [[MARKER]],
  old: [[MARKER, '2 days']],
  stray: [[MARKER]],
  unparsed: [[MARKER, ['is empty', 'is old']]],
  repairOrClear: [['postflight clear 7']],
  adoptOrClear: [['postflight adopt 7', 'postflight clear 7']],
  moveStray: [['specs']],
  allowWriting: [['specs/7_x']],
})

describeSentences('findings about runs', RUN_FINDINGS, {
  about: [['specs/7_x', 'is running']],
  noRunFile: [[RUN]],
  blocked: [[RUN, 'its state is too large']],
  idle: [[RUN, '3 days']],
  stalled: forms([RUN, undefined], [RUN, 'phase "make":\n3 attempts failed']),
  resumeOrAbort: [['postflight workflow resume 7', 'postflight workflow stop 7']],
})
