import { counted, listed, quote } from '../kernel/text.ts'

type Installed = 'hook' | 'plugin' | 'reactive rules'

interface HeldParts {
  readonly entry: boolean
  readonly reactive: boolean
  readonly permissions: boolean
}

function removed(isDryRun: boolean): string {
  return isDryRun ? 'Would remove' : 'Removed'
}

function them(count: number): string {
  return count === 1 ? 'it' : 'them'
}

export const INSTALL_TEXT = {
  installed: (what: Installed, file: string, isDryRun: boolean): string =>
    `${isDryRun ? 'Would install' : 'Installed'} the ${what} in ${file}`,
  alreadyInstalled: (what: Installed, file: string): string =>
    `The ${what} ${what === 'reactive rules' ? 'are' : 'is'} already in ${file}`,
  backup: (file: string): string => `Backup: ${file}`,
  sharedWithClaude: 'Claude Code and Copilot CLI both read this file',
  removedForBoth: 'Claude Code and Copilot CLI both read this file, so the hook was removed for both',
  restart: 'Restart running sessions to use it',
  notPortable: (personalScope: string): string =>
    `This entry names a path on this machine: for shared settings, make postflight-guard a dev dependency of the project, or use --scope ${personalScope}`,
  neverPortable:
    'This entry names a path on this machine, because the host does not tell its hooks where the project is: --scope user keeps it out of shared files',
  removed: (what: Installed, value: HeldParts, file: string, isDryRun: boolean): string => {
    const others = [
      ...(value.reactive ? ['the reactive rules'] : []),
      ...(value.permissions ? ['our permission rules'] : []),
    ]
    const parts = [...(value.entry || others.length === 0 ? [`the ${what}`] : []), ...others]
    return `${removed(isDryRun)} ${listed(parts)} from ${file}`
  },
  removedLines: (file: string, isDryRun: boolean): string => `${removed(isDryRun)} our lines from ${file}`,
  removedWhole: (file: string, isDryRun: boolean): string => `${removed(isDryRun)} ${file}`,
  keptSkill: (file: string, word: string): string =>
    `Kept ${file}, because it was changed after \`postflight init\` wrote it. To remove it: \`rm ${word}\``,
  keptBackup: (backup: string): string => `Kept the backup ${backup}, because it differs from the file`,
  removedFile: (file: string, isDryRun: boolean): string => `${removed(isDryRun)} ${file}: it held nothing else`,
  keptRules: (file: string, count: number): string =>
    `Kept ${count === 1 ? 'a permission rule' : `${count} permission rules`} about postflight in ${file}, because no record says that \`postflight init\` added ${them(count)}. To remove ${them(count)}, edit "permissions" in that file`,
  keptDone: (file: string, word: string): string =>
    `Kept ${file}, because it belongs to the project. To remove it: \`rm ${word}\``,
  keptMarkers: (count: number, specs: string, isExposed: boolean, clear: string): string =>
    `Kept ${counted(count, 'marker')} in ${specs}/${isExposed ? `, and git no longer ignores ${them(count)}` : ''}. To clear ${them(count)}: \`${clear}\``,
  stillIn: (what: Installed, file: string, command: string): string =>
    `The ${what} is still in ${file}: \`${command}\` removes it`,
  notInstalled: (what: Installed, files: readonly string[]): string => `The ${what} is not in ${files.join(' or ')}`,
} as const

type Part = 'hook' | 'shell-hook' | 'permissions' | 'gitignore' | 'skill' | 'done'

const PART_TITLES: Record<Part, string> = {
  hook: 'the hook',
  'shell-hook': 'the entry of a shell hook',
  permissions: 'permission rules',
  gitignore: 'lines for git',
  skill: 'a skill',
  done: 'a definition of done',
}

const PART_STATES = {
  written: 'written',
  planned: 'would be written',
  declined: 'not written',
  done: 'already there',
  kept: 'kept: it differs from the file that init writes',
  needless: 'not needed: this is not a git repository',
  outside: 'not written: a link leads this file out of the project, or to nothing',
} as const

const REMOVAL_STATES: Partial<Record<keyof typeof PART_STATES, string>> = {
  written: 'removed',
  planned: 'would be removed',
  declined: 'left there',
}

export const INIT_TEXT = {
  intro: (count: number): string =>
    `postflight init sets this project up for Claude Code in ${counted(count, 'part')}. Nothing is written before the last answer.`,
  numbered: (number: number, what: string): string => `${number}. ${what}`,
  part: {
    hook: (file: string): string =>
      `The hook, in ${file}: entries that start it when an agent stops, when a session starts, and after commands that name postflight.`,
    'shell-hook': (file: string): string =>
      `Removal of a shell hook's entry from ${file}: it looks for the same markers, so with both, one stop of a sub-agent counts twice. Its script stays, and a backup of the file keeps the entry: \`postflight uninstall\` does not put it back. Everybody who uses that file loses the shell hook.`,
    permissions: (file: string): string =>
      `Permission rules, in ${file}: agents may use the commands of the protocol without asking (create, step, wait, clear, …). Claude Code still asks you about the ones that can start other programs (--check, --step-check, --run-checks, --trust, workflow start, workflow resume, install).`,
    gitignore: (file: string): string =>
      `Lines in ${file}, so that git ignores markers, the journal and the backups of settings.`,
    skill: (file: string): string =>
      `A skill, ${file}: it teaches agents how to create, tick and clear a marker, how to wait, and what a block means.`,
    done: (file: string): string =>
      `A definition of done, ${file}: when an agent changed these files, its stop is blocked until the checks have succeeded. It has no effect until you run \`postflight trust\`.`,
  } satisfies Record<Part, (file: string) => string>,
  question: (part: Part, isRepeated = false): string =>
    `   ${isRepeated ? 'Please answer y or n. ' : ''}${part === 'shell-hook' ? 'Remove this' : 'Write this'}? [Y/n] `,
  line: (part: Part, state: keyof typeof PART_STATES, file: string): string => {
    const words = (part === 'shell-hook' ? REMOVAL_STATES[state] : undefined) ?? PART_STATES[state]
    return `${state === 'written' || state === 'done' ? '✓' : '·'} ${PART_TITLES[part]}: ${file} (${words})`
  },
  shellHookEntry: (command: string): string => `  SubagentStop: ${quote(command)}`,
  shellHookElsewhere: (command: string, file: string, remove: string): string =>
    `Warning: "${quote(command)}" in ${file} looks for the same markers, so one stop of a sub-agent counts twice. Everybody who uses that file loses it with: ${remove}`,
  dependencyOutside: (specifier: string): string =>
    `Warning: package.json names postflight-guard by "${specifier}", which is outside this repository, so \`npm ci\` fails on every other machine. Copy the tarball into the repository, for example into vendor/, and install that file.`,
  ignoredSettings: (fault: string): string =>
    `Warning: Claude Code ignores all settings in a file that it cannot read. ${fault}`,
  skillSource: (file: string): string => `  the text of ${file}`,
  tryIt: `Try it now: \`claude 'Run "postflight create 1 try", and stop.'\` Its stop is blocked until it has cleared that marker. Afterwards: \`rmdir specs/001_try\``,
  noDone:
    '· a definition of done: not written, because the project shows no test command; for example, write `done: [{ when: "src/**", check: make test }]` to specs/done.yaml',
  noHook: (install: string): string => `Without the hook, no stop is blocked. To add it: ${install}`,
  shellHookKept: '`postflight uninstall` does not put the entry of the shell hook back: the backup keeps it.',
  trust: (trust: string, isDependency: boolean): string =>
    `Read specs/done.yaml, then let it take effect: ${isDependency ? 'npx ' : ''}${trust}`,
  undo: (uninstall: string, isDependency: boolean): string =>
    `To undo all of it: ${isDependency ? 'npx ' : ''}${uninstall}`,
  skillWithoutPath:
    '## If `postflight` is not found\n\nUse `npx --no-install postflight` instead, in the project. If that fails too, tell the user at once to install the packages of the project (`npm ci`, or as its README says) and to start a new session: until then no stop is blocked. Do the postflight all the same.',
  skillMark: (checksum: string): string =>
    `<!-- postflight init wrote this file (${checksum}), and \`postflight uninstall\` removes it. -->`,
} as const
