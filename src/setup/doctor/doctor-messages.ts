import { counted, listed, quote, repairOrClear, unparsedMarker } from '../../kernel/text.ts'

export const HOOK_FINDINGS = {
  installed: (file: string): string => `the hook is installed in ${file}`,
  notInstalled: 'the hook is not installed in any settings file of Claude Code',
  installedTwice: (files: readonly string[], cost: string): string =>
    `the hook is installed more than once, in ${listed(files)}: ${cost}`,
  sameCommand:
    'Claude Code runs the same command once, but other hosts run each of them, and one stop then counts several times',
  differentCommands: 'the host runs each of them, so one stop counts several times',
  hooksDisabled: (file: string): string => `${file} sets disableAllHooks, so no hook runs`,
  hooksForbidden: (file: string): string => `${file} forbids other hooks, so Claude Code does not run this one`,
  allowHooks:
    'ask whoever manages that file to allow it, or to add the entries that `postflight install --dry-run` prints',
  enableHooks: 'remove disableAllHooks from that file',
  guardDisabled: (file: string | undefined): string =>
    `POSTFLIGHT_DISABLE=1 is set ${file === undefined ? 'in the environment' : `in ${file}`}, so the hook allows every stop`,
  enableGuard: 'remove POSTFLIGHT_DISABLE from "env" in that file',
  anotherCopy: (file: string, command: string): string => `${file} starts another copy: ${command}`,
  listedTwice: (file: string): string => `${file} lists the hook more than once`,
  otherCommand: (file: string): string => `${file} starts the hook by another command than \`install\` writes`,
  copyMissing: (file: string, problem: string): string =>
    `${file} starts the project's own copy, which does not work here: ${problem}`,
  installedByProject: (file: string): string => `the project's own copy of the hook is installed in ${file}`,
  plugin: (name: string, file: string): string => `the plugin ${name} brings the hook (${file})`,
  pluginLocation: (name: string): string => `the plugin ${name}`,
  shellHook: (command: string, file: string): string =>
    `the hook "${quote(command, 120)}" in ${file} looks for the same markers, so one stop of a sub-agent counts twice`,
  reactive: (count: number, file: string): string => `${counted(count, 'reactive rule')} in ${file}`,
  withoutWord: (file: string, event: string): string =>
    `${file} has an entry for ${event} of an earlier version, which does not look for specs/done.yaml`,
  incomplete: (file: string): string => `${file} lists the hook for some of its events only`,
  differs: (file: string): string => `${file} has entries that differ from those that \`install\` writes`,
  repairSettings: 'repair the file by hand: until then Claude Code ignores all of it',
  missing: (file: string): string => `${file} is missing`,
  rebuild: 'run `npm run build`, or install the package again',
  notExecutable: (file: string): string => `${file} is not executable`,
  answers: (answer: string): string => `the hook runs (it answered ${answer})`,
  noAnswer: (detail: string): string => `the hook does not answer (${detail})`,
  checkNode: "check that `node` is on your agent's PATH",
} as const

export const HOST_FINDINGS = {
  repair: (host: string): string => `repair the file by hand: until then ${host} may ignore all of it`,
  installedTwice: (host: string, files: readonly string[]): string =>
    `${host} runs the hook of each of ${listed(files)}, so a stop may count several times`,
  unsupported: (file: string, host: string, why: string): string =>
    `${file} starts the hook, but ${host} is not supported: ${why}`,
  removeEntry: 'remove the entry from that file',
} as const

export const PLUGIN_FINDINGS = {
  listed: (file: string): string => `the plugin is listed in ${file}`,
  anotherCopy: (file: string, plugin: string): string => `${file} lists another copy: ${plugin}`,
  ownCopyMissing: (file: string): string => `${file} lists the project's own copy, which is not installed here`,
  inSeveralFiles: (files: readonly string[]): string => `the plugin is listed more than once, in ${listed(files)}`,
  listedTwice: (file: string): string => `${file} lists the plugin more than once`,
  repairConfiguration: 'repair the file by hand: until then OpenCode does not start',
  loads: 'the plugin loads',
  doesNotLoad: (detail: string): string => `the plugin does not load (${detail})`,
  rebuild: HOOK_FINDINGS.rebuild,
} as const

export const GIT_FINDINGS = {
  notIgnored: (example: string): string => `git does not ignore the files of postflight-guard, such as ${example}`,
  tracked: (names: readonly string[]): string =>
    `git tracks ${names.slice(0, 3).join(', ')}${names.length > 3 ? ` and ${names.length - 3} more` : ''}, but such files belong to one machine`,
} as const

export const ROOT_FINDINGS = {
  root: (root: string): string => `the root is ${root}`,
  none: (specs: string, start: string): string =>
    `no ${specs}/ at or above ${start} yet: \`postflight create\` makes it`,
  notProject: (specs: string, start: string): string => `no ${specs}/ at or above ${start}, which is not a project`,
  moveAway: 'remove or rename it: until then markers are neither written nor found there',
} as const

export const MARKER_FINDINGS = {
  pending: (name: string, problems: readonly string[]): string => [`${name}: pending`, ...problems].join('; it '),
  unreadable: (name: string, problems: readonly string[]): string => `${name} ${problems.join(', ')}`,
  abandoned: (name: string): string => `${name}: abandoned, its postflight was never done`,
  unchecked: (name: string): string => `${name}: ended without its checks`,
  expired: (name: string, age: string): string => `${name}: unowned and ${age} old, so it blocks no stop`,
  uncountable: (name: string, why: string): string => `${name}: pending, but ${why}, so it blocks no stop`,
  bypassed: (name: string): string => `${name}: bypassed, the next stop removes it`,
  old: (name: string, age: string): string => `${name}: pending for ${age}`,
  stray: (name: string): string => `${name} is where the hook does not look`,
  notUtf8: 'its name is not UTF-8, or has the character U+FFFD',
  fixFolder: 'fix its permissions or its name, or move it away',
  removeByHand: 'look at it and remove it by hand',
  unparsed: (name: string, problems: readonly string[]): string => `${name} ${unparsedMarker(problems)}`,
  repairOrClear,
  repairCount: 'repair or remove the count by hand: until then the marker blocks no stop',
  adoptOrClear: (adopt: string, clear: string): string => `${adopt}, or ${clear}`,
  moveStray: (specs: string): string => `move it to ${specs}/NNN_slug/, or remove it`,
  allowWriting: (folder: string): string =>
    `let the user who runs the agent write there, for example: chmod u+wx ${folder}`,
} as const

export const RUN_FINDINGS = {
  about: (folder: string, what: string): string => `${folder}: ${what}`,
  noRunFile: (run: string): string => `${run}, but its run file is missing, so hooks ignore it`,
  blocked: (run: string, why: string): string => `${run}, but ${why}, so it cannot continue`,
  idle: (run: string, age: string): string => `${run}, and has not moved for ${age}`,
  stalled: (run: string, why: string | undefined): string => (why === undefined ? run : `${run}: ${quote(why)}`),
  repairState: 'repair that file by hand, or move it away',
  resumeOrAbort: (resume: string, abort: string): string => `${resume}, or ${abort}`,
} as const
