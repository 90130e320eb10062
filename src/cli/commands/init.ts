import { readDoneFile } from '../../done/trust-store.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { asPostflightError, errorFault } from '../../kernel/error-messages.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { type CommandContext, displayPath, findCommandRepository } from '../../project/command-context.ts'
import { type InitPart, initParts, otherShellHooks, PART_NAMES } from '../../setup/install/init-parts.ts'
import { dependencyOutside, hookCommand, projectFolder } from '../../setup/install/our-hooks.ts'
import { refuseSecond, type Target, targetOf } from '../../setup/install/target.ts'
import { forbidsHooks, hooksForbidden, removeCommand, settingsLocations } from '../../setup/install/wiring.ts'
import { INIT_TEXT, INSTALL_TEXT } from '../../setup/settings-messages.ts'
import { readSettingsFile } from '../../setup/settings-paths.ts'
import { replaceSettingsFile } from '../../setup/settings-replace.ts'
import * as field from '../../views/documents.ts'
import { type BareCommand, collect, type Declaration, invalidValue, OPTION_EXPECTATIONS, type Run } from '../command.ts'

const OTHER_HOSTS = `
For another host:
  $ postflight install --host opencode
  $ postflight init --skip hook --skip permissions`

export const declaration = {
  description:
    'set a project up for Claude Code: hook, permission rules, .gitignore, a skill and a definition of done; asks first',
  examples: ['init', 'init --yes --skip skill', 'init --dry-run'],
  notes: [OTHER_HOSTS],
  declare: (command: BareCommand) =>
    command
      .option(
        '--scope <scope>',
        'project, local or user (default: project if it depends on postflight-guard, else local)',
      )
      .option(
        '--skip <part>',
        'leave out hook, shell-hook, permissions, gitignore, skill or done (repeatable)',
        collect,
        [],
      )
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
      state: field.oneOf(['written', 'planned', 'declined', 'done', 'kept', 'needless', 'outside']),
    }),
  })

type InitDocument = field.DocumentOf<typeof document>

export const run: Run<typeof declaration, typeof document> = (context, _given, options, { freeCommands }) => {
  checkNames(options.skip)
  const scope = options.scope ?? likelyScope(context)
  const target = targetOf(context, 'claude', scope)
  if (!options.force && !options.skip.includes('hook')) {
    refuseSecond(context, target)
  }
  const parts = initParts(context, target, freeCommands, options.skip)
  const missing = parts.filter(({ state }) => state === 'missing')
  const accepted = options.dryRun || options.yes ? missing : ask(context, missing)
  const backups = options.dryRun ? [] : write(context, accepted)
  const warnings = findWarnings(context, target, options.skip)
  const command = (word: string): string => commandLine([word], context.rootOption)
  const lines = parts.map((part) => INIT_TEXT.line(part.name, stateOf(part), displayPath(context, part.file)))
  const hasDone = parts.some(({ name }) => name === 'done') || readDoneFile(target.project).kind !== 'absent'
  if (!hasDone && !options.skip.includes('done')) lines.push(INIT_TEXT.noDone)
  if (options.dryRun) lines.push(...accepted.flatMap((part) => ['', ...shown(context, part)]))
  lines.push(...backups.map((backup) => INSTALL_TEXT.backup(displayPath(context, backup))))
  const isWritten = accepted.length > 0 && !options.dryRun
  const isAccepted = (name: InitPart['name']): boolean => accepted.some((part) => part.name === name)
  if (isWritten && isAccepted('hook')) lines.push(INSTALL_TEXT.restart)
  if (isWritten) lines.push(INIT_TEXT.undo(`${command('uninstall')} --scope ${scope}`, target.portable))
  if (isWritten && isAccepted('shell-hook')) lines.push(INIT_TEXT.shellHookKept)
  if (isAccepted('hook') && scope === 'project' && !target.portable) {
    lines.push(INSTALL_TEXT.notPortable(target.personalScope))
  }
  if (isWritten && isAccepted('done')) lines.push(INIT_TEXT.trust(command('trust'), target.portable))
  lines.push(...warnings)
  const hook = parts.find(({ name }) => name === 'hook')
  const hookState = hook === undefined ? undefined : stateOf(hook)
  if (hookState === 'declined') lines.push(INIT_TEXT.noHook(`${command('install')} --scope ${scope}`))
  if (isWritten && (hookState === 'written' || hookState === 'done')) lines.push(INIT_TEXT.tryIt)
  return {
    exitCode: 0,
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

  function stateOf(part: InitPart): InitDocument['parts'][number]['state'] {
    if (part.state !== 'missing') return part.state
    if (!accepted.includes(part)) return 'declined'
    return options.dryRun ? 'planned' : 'written'
  }
}

/** Includes the settings that Claude Code ignores. */
function findWarnings(context: CommandContext, target: Target, skip: readonly string[]): string[] {
  const { project, portable } = target
  const faults = settingsLocations(context, project).flatMap(({ fault }) => fault ?? [])
  const outside = portable ? dependencyOutside(project, findCommandRepository(project) ?? project) : undefined
  const managed = forbidsHooks(context)
  const others = skip.includes('shell-hook') ? [] : otherShellHooks(context, target)
  return [
    ...others.map((location) =>
      INIT_TEXT.shellHookElsewhere(
        location.commands[0],
        displayPath(context, location.file),
        removeCommand(context, location),
      ),
    ),
    ...(managed === undefined ? [] : [`Warning: ${hooksForbidden(managed)}`]),
    ...faults.map(({ code, args }) => INIT_TEXT.ignoredSettings(errorFault(code, args))),
    ...(outside === undefined ? [] : [INIT_TEXT.dependencyOutside(outside)]),
  ]
}

/** A path of this machine does not belong in shared settings. */
function likelyScope(context: CommandContext): string {
  return hookCommand(context, 'project', projectFolder(context)).portable ? 'project' : 'local'
}

function checkNames(names: readonly string[]): void {
  const unknown = names.find((name) => !PART_NAMES.includes(name as never))
  if (unknown !== undefined) throw invalidValue('--skip', unknown, OPTION_EXPECTATIONS.oneOf(PART_NAMES))
}

function ask({ terminal, ...context }: CommandContext, parts: readonly InitPart[]): InitPart[] {
  if (parts.length === 0) return []
  if (terminal === undefined) throw new PostflightError('needs-answer')
  terminal.print(INIT_TEXT.intro(parts.length))
  const accepted: InitPart[] = []
  for (const [index, part] of parts.entries()) {
    const [what = '', ...preview] = shown(context, part)
    terminal.print(['', INIT_TEXT.numbered(index + 1, what), ...preview].join('\n'))
    const first = terminal.ask(INIT_TEXT.question(part.name))
    // The input ended without an answer, so the answer is no.
    if (first === undefined) return []
    const isClear = /^(?:y|yes|n|no|)$/i.test(first.trim())
    const answer = isClear ? first : (terminal.ask(INIT_TEXT.question(part.name, true)) ?? 'n')
    if (/^(?:y|yes|)$/i.test(answer.trim())) accepted.push(part)
  }
  terminal.print('')
  return accepted
}

function shown(context: Omit<CommandContext, 'terminal'>, part: InitPart): string[] {
  return [INIT_TEXT.part[part.name](displayPath(context, part.file)), ...part.preview]
}

function write(context: CommandContext, parts: readonly InitPart[]): string[] {
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
      const backup = replaceSettingsFile(file, after, edits.some(({ keepsBackup }) => keepsBackup) ? before : undefined)
      written.push(displayPath(context, file))
      return backup ?? []
    })
  } catch (error) {
    if (written.length === 0) throw error
    const { code, args } = asPostflightError(error)
    throw new PostflightError('init-unfinished', { written: written.join(', '), fault: errorFault(code, args) }, error)
  }
}
