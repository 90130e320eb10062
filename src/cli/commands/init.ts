import path from 'node:path'
import { readDoneFile } from '../../done/trust-store.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { asPostflightError, errorFault, PostflightError } from '../../kernel/errors.ts'
import { DONE_PATH } from '../../kernel/files.ts'
import { counted, quote, shellWord } from '../../kernel/text.ts'
import { type CommandContext, displayPath, findCommandRoot, projectFolder } from '../../project/command-context.ts'
import { newProjectFolder } from '../../project/new-task-folder.ts'
import { taskFolderName, taskNumberOf } from '../../project/task-folder.ts'
import { listTaskFolders, taskFolderBelow } from '../../project/task-folders.ts'
import { asWarning, offWarnings } from '../../setup/doctor/claude-findings.ts'
import { checkRoot } from '../../setup/doctor/project-findings.ts'
import { type InitPart, initParts, otherShellHooks, PART_NAMES } from '../../setup/install/init-parts.ts'
import { cacheWarning, dependencyOutside, hookCommand } from '../../setup/install/our-hooks.ts'
import { locationOf, refuseSecond, type Target, targetOf } from '../../setup/install/target.ts'
import { removeCommand, settingsLocations } from '../../setup/install/wiring.ts'
import { initQuestion, notPortable, PART_TITLES, RESTART } from '../../setup/settings-messages.ts'
import { readSettingsFile } from '../../setup/settings-paths.ts'
import { replaceSettingsFile } from '../../setup/settings-replace.ts'
import * as field from '../../views/documents.ts'
import { type Declaration, notOneOf, type Run, repeatable } from '../command.ts'

const OTHER_HOSTS = `
For another host:
  $ postflight install --host opencode
  $ postflight init --skip hook --skip permissions`

export const declaration = {
  description:
    'set a project up for Claude Code: hook, permission rules, .gitignore, a skill and a definition of done; asks first',
  examples: ['init', 'init --yes --skip skill', 'init --dry-run'],
  notes: [OTHER_HOSTS],
  declare: (command) =>
    command
      .option(
        '--scope <scope>',
        'project, local or user (default: project if it depends on postflight-guard, else local)',
      )
      .option(...repeatable('--skip <part>', 'leave out hook, shell-hook, permissions, gitignore, skill or done'))
      .option('--yes', 'do not ask', false)
      .option('--dry-run', 'only print what would be written', false)
      .option('--force', 'install even if the hook is installed elsewhere', false),
} satisfies Declaration

export const document = () =>
  field.object({
    scope: field.text('The scope of the settings: project, local or user.'),
    changed: field.flag('False if nothing had to change.'),
    dry_run: field.flag('True if nothing was written: this is what would be written.'),
    backups: field.texts('The backup of a file.'),
    warnings: field.texts('Problems that keep the guard from working, here or on another machine.'),
    parts: field.objects({
      name: field.oneOf(PART_NAMES),
      file: field.text('The file that the part is in.'),
      state: field.oneOf(Object.keys(STATE_WORDS) as PartState[]),
    }),
  })

export const run: Run<typeof declaration, typeof document> = (context, _given, options, { freeCommands }) => {
  const unknown = options.skip.find((name) => !PART_NAMES.includes(name as never))
  if (unknown !== undefined) throw notOneOf(PART_NAMES, '--skip', unknown)
  // A path of this machine does not belong in shared settings.
  const scope =
    options.scope ?? (hookCommand(context, 'project', projectFolder(context)).portable ? 'project' : 'local')
  const target = targetOf(context, 'claude', scope)
  if (!options.force && !options.skip.includes('hook')) refuseSecond(context, 'claude', target)
  const parts = initParts(context, target, freeCommands, options.skip)
  const missing = parts.filter(({ state }) => state === 'missing')
  const accepted = options.dryRun || options.yes ? missing : ask(context, missing)
  const backups = options.dryRun ? [] : write(context, accepted, locationOf(target))
  const ofRoot = checkRoot(context, findCommandRoot(context))
  const warnings = [...findWarnings(context, target, options.skip), ...(ofRoot.ok ? [] : [asWarning(ofRoot)])]
  const command = (word: string): string => commandLine([word], context.rootOption)
  // Yarn's other linkers than node-modules make nothing that npx finds.
  const isByYarn = context.environment.BERRY_BIN_FOLDER !== undefined
  const start = isByYarn ? 'yarn ' : target.portable ? 'npx ' : ''
  const uninstall = `${start}${command('uninstall')}`
  const lines = parts.map((part) => partLine(part.name, stateOf(part), displayPath(context, part.file)))
  const hasDone = parts.some(({ name }) => name === 'done') || readDoneFile(target.project).kind !== 'absent'
  if (!hasDone && ofRoot.ok && !options.skip.includes('done')) lines.push(noDone(context, target.project))
  if (options.dryRun) lines.push(...accepted.flatMap((part) => ['', ...shown(context, part)]))
  lines.push(...backups.map((backup) => `Backup: ${displayPath(context, backup)}`))
  const isWritten = accepted.length > 0 && !options.dryRun
  const isAccepted = (name: InitPart['name']): boolean => accepted.some((part) => part.name === name)
  if (isWritten && isAccepted('hook')) lines.push(RESTART)
  // Even then the lines for git are the project's.
  const isOfBoth = scope === 'user' && isAccepted('gitignore')
  if (isWritten) lines.push(`To undo all of it: ${uninstall} --scope ${scope}${isOfBoth ? ` && ${uninstall}` : ''}`)
  if (isWritten && isAccepted('shell-hook')) {
    lines.push('`postflight uninstall` does not put the entry of the shell hook back: the backup keeps it.')
  }
  if (isAccepted('hook') && scope === 'project' && !target.portable) lines.push(notPortable('local'))
  if (isWritten && isAccepted('done')) {
    lines.push(`Read specs/done.yaml, then let it take effect: ${start}${command('trust')}`)
  }
  lines.push(...warnings)
  const [hookState] = parts.filter(({ name }) => name === 'hook').map(stateOf)
  if (hookState === 'declined') {
    lines.push(`Without the hook, no stop is blocked. To add it: ${command('install')} --scope ${scope}`)
  }
  if (isWritten && ofRoot.ok && (hookState === 'written' || hookState === 'done')) {
    const isInProject = (findCommandRoot(context) ?? newProjectFolder(context)) !== undefined
    lines.push(`Try it ${isInProject ? 'now' : "in a project's folder"}: ${tryIt(context, target.project)}`)
  }
  return {
    data: {
      scope: target.scope,
      changed: accepted.length > 0,
      dry_run: options.dryRun,
      backups,
      warnings,
      parts: parts.map((part) => ({ name: part.name, file: part.file, state: stateOf(part) })),
    },
    lines,
  }

  function stateOf(part: InitPart): PartState {
    if (part.state !== 'missing') return part.state
    if (!accepted.includes(part)) return 'declined'
    return options.dryRun ? 'planned' : 'written'
  }
}

function noDone(context: CommandContext, project: string): string {
  const file = displayPath(context, path.join(project, DONE_PATH))
  return `· a definition of done: not written, because the project shows no test command; for example, write \`done: [{ when: "src/**", check: make test }]\` to ${file}`
}

/** A new folder, which can be removed afterwards. */
function tryIt(context: CommandContext, project: string): string {
  const numbers = listTaskFolders(project).folders.map(({ task }) => taskNumberOf(task))
  let number = 1
  while (numbers.includes(number)) number += 1
  const { task, path } = taskFolderBelow(project, taskFolderName({ number, separator: '_', slug: 'try' }))
  const remove = `rmdir ${shellWord(displayPath(context, path))}`
  return `\`claude 'Run "postflight create ${task}", and stop.'\` That stop is blocked until the agent has cleared the marker. Afterwards: \`${remove}\``
}

function partLine(name: InitPart['name'], state: PartState, file: string): string {
  const words = (name === 'shell-hook' ? REMOVAL_WORDS[state] : undefined) ?? STATE_WORDS[state]
  return `${state === 'written' || state === 'done' ? '✓' : '·'} ${PART_TITLES[name]}: ${file} (${words})`
}

const STATE_WORDS = {
  written: 'written',
  planned: 'would be written',
  declined: 'not written',
  done: 'already there',
  kept: 'kept: it differs from the file that init writes',
  needless: 'not needed: this is not a git repository',
  outside: 'not written: a link leads this file out of the project, or to nothing',
}

type PartState = keyof typeof STATE_WORDS

const REMOVAL_WORDS: Partial<Record<PartState, string>> = {
  written: 'removed',
  planned: 'would be removed',
  declined: 'left there',
}

/** Includes the settings that Claude Code ignores. */
function findWarnings(context: CommandContext, target: Target, skip: readonly string[]): string[] {
  const { project, portable } = target
  const locations = settingsLocations(context, project)
  const faults = locations.flatMap(({ fault }) => fault ?? [])
  const outside = portable ? dependencyOutside(project) : undefined
  const cached = cacheWarning(context)
  const others = skip.includes('shell-hook') ? [] : otherShellHooks(context, target)
  return [
    ...others.map((location) => {
      const entry = `"${quote(location.commands[0])}" in ${displayPath(context, location.file)}`
      const harm = 'looks for the same markers, so one stop of a sub-agent counts twice'
      const remove = removeCommand(context, location)
      return `Warning: ${entry} ${harm}. Everybody who uses that file loses it with: ${remove}`
    }),
    ...offWarnings(context, project),
    ...faults.map(
      ({ code, args }) =>
        `Warning: Claude Code ignores all settings in a file that it cannot read. ${errorFault(code, args)}`,
    ),
    ...(outside === undefined ? [] : [outsideWarning(outside)]),
    ...(cached === undefined || portable || skip.includes('hook') ? [] : [cached]),
  ]
}

function outsideWarning(specifier: string): string {
  return `Warning: package.json names postflight-guard by "${specifier}", which is outside this repository, so \`npm ci\` fails on every other machine. Copy the tarball into the repository, for example into vendor/, and install that file.`
}

function ask(context: CommandContext, parts: readonly InitPart[]): InitPart[] {
  if (parts.length === 0) return []
  const { terminal } = context
  if (terminal === undefined) throw new PostflightError('needs-answer')
  const intro = `postflight init sets this project up for Claude Code in ${counted(parts.length, 'part')}.`
  terminal.print(`${intro} Nothing is written before the last answer.`)
  const accepted: InitPart[] = []
  for (const [index, part] of parts.entries()) {
    const [what = '', ...preview] = shown(context, part)
    terminal.print(['', `${index + 1}. ${what}`, ...preview].join('\n'))
    const first = terminal.ask(initQuestion(part.name))
    // The input ended, so the answer is no.
    if (first === undefined) return []
    const isClear = /^(?:y|yes|n|no|)$/i.test(first.trim())
    const answer = isClear ? first : (terminal.ask(initQuestion(part.name, true)) ?? 'n')
    if (/^(?:y|yes|)$/i.test(answer.trim())) accepted.push(part)
  }
  terminal.print('')
  return accepted
}

function shown(context: CommandContext, part: InitPart): string[] {
  return [PART_DESCRIPTIONS[part.name](displayPath(context, part.file)), ...part.preview]
}

const PART_DESCRIPTIONS: Record<InitPart['name'], (file: string) => string> = {
  hook: (file) =>
    `The hook, in ${file}: entries that start it when an agent stops, when a session starts, and after commands that name postflight.`,
  'shell-hook': (file) =>
    `Removal of a shell hook's entry from ${file}: it looks for the same markers, so with both, one stop of a sub-agent counts twice. Its script stays, and a backup of the file keeps the entry: \`postflight uninstall\` does not put it back. Everybody who uses that file loses the shell hook.`,
  permissions: (file) =>
    `Permission rules, in ${file}: agents may use the commands of the protocol without asking (create, step, wait, clear, …). Claude Code still asks you about the ones that can start other programs (--check, --step-check, --run-checks, --trust, workflow start, workflow resume, install).`,
  gitignore: (file) => `Lines in ${file}, so that git ignores markers, the journal and the backups of settings.`,
  skill: (file) =>
    `A skill, ${file}: it teaches agents how to create, tick and clear a marker, how to wait, and what a block means.`,
  done: (file) =>
    `A definition of done, ${file}: when an agent changed these files, its stop is blocked until the checks have succeeded. It has no effect until you run \`postflight trust\`.`,
}

function write(context: CommandContext, parts: readonly InitPart[], settings: string): string[] {
  const files = [...new Set(parts.map(({ file }) => file))]
  const texts = files.map((file) => {
    const before = readSettingsFile(file)
    const edits = parts.filter((part) => part.file === file)
    return { file, before, after: edits.reduce((text, { add }) => add(text), before ?? ''), edits }
  })
  const written: string[] = []
  try {
    return texts.flatMap(({ file, before, after, edits }) => {
      for (const { record } of edits) record?.(before ?? '')
      const backup = replaceSettingsFile(file, after, before, file === settings)
      written.push(displayPath(context, file))
      return backup ?? []
    })
  } catch (error) {
    if (written.length === 0) throw error
    const { code, args } = asPostflightError(error)
    throw new PostflightError('init-unfinished', { written: written.join(', '), fault: errorFault(code, args) }, error)
  }
}
