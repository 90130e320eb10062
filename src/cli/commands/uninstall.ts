import path from 'node:path'
import { kindIfSeen } from '../../disk/file-facts.ts'
import { doneFilePath, readDoneFile } from '../../done/trust-store.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { SPECS_FOLDER } from '../../kernel/files.ts'
import { counted, shellWord } from '../../kernel/text.ts'
import { forEveryOne } from '../../kernel/values.ts'
import { viewMarkers } from '../../marker/marker-view.ts'
import { type CommandContext, displayPath, projectFolder } from '../../project/command-context.ts'
import { type ProjectRemoval, projectRemovals } from '../../setup/install/init-parts.ts'
import type { Removal, Target } from '../../setup/install/target.ts'
import {
  carryOut,
  HOSTS,
  isOfClaude,
  readRecord,
  recordOf,
  removalsFrom,
  removeRecord,
  targetOf,
} from '../../setup/install/target.ts'
import { settingsLocations, uninstallLine } from '../../setup/install/wiring.ts'
import { countRules } from '../../setup/permission-rules.ts'
import { SHARED_WITH_CLAUDE } from '../../setup/settings-messages.ts'
import { readSettingsFile, SCOPES } from '../../setup/settings-paths.ts'
import * as field from '../../views/documents.ts'
import { endWithFailures } from '../../views/print.ts'
import { type Declaration, HOST, type Run, SCOPE } from '../command.ts'
import { removalLine, removed, settingsFields, takenOutOf } from './install.ts'

export const declaration = {
  description: 'undo install and init',
  examples: ['uninstall', 'uninstall --scope user --dry-run', 'uninstall --host opencode'],
  declare: (command) =>
    command
      .option(...HOST)
      .option('--scope <scope>', `${SCOPE} (default: the scope in the project that has it)`)
      .option('--dry-run', 'only print what would be removed', false),
} satisfies Declaration

export const document = () =>
  field.object({
    ...settingsFields(),
    removed_file: field.flag('True if the file was removed because it held nothing else.'),
    taken_out_of: takenOutOf(),
  })

export const run: Run<typeof declaration, typeof document> = (context, _given, options, surroundings) => {
  const { host, dryRun } = options
  const target = targetOf(context, host, options.scope ?? scopeThatHolds(context, host))
  const removals = removalsFrom(target, target.files)
  const failures: unknown[] = []
  const ofProject = host === 'claude' ? projectRemovals(context, target, failures) : []
  const undone = ofProject.filter(({ kept }) => !kept)
  const recorded = forEveryOne(target.mayHaveRules ? target.files : [], failures, (file) => readRecord(file) && file)
  const lines = removals.map((removal) => removalLine(context, target, removal, dryRun))
  const left = [...keptRules(context, recorded, removals), ...stillWired(context, host, target)]
  if (host !== 'claude' && isOfClaude(host, target.scope) && removals.at(-1)?.file === target.files.at(-1))
    lines.push(`${SHARED_WITH_CLAUDE}, so the hook was removed for both`)
  lines.push(...ofProject.map((removal) => projectLine(context, removal, dryRun)))
  if (!dryRun) {
    for (const removal of removals) carryOut(removal)
    // The settings may have lost our rules already.
    for (const file of recorded) removeRecord(target, file)
    for (const removal of undone) carryOut(removal)
  }
  for (const { file, isNeedless } of removals.flatMap(({ backups }) => backups)) {
    if (!isNeedless) lines.push(`Kept the backup ${displayPath(context, file)}, because it differs from the file`)
  }
  const done = [...removals, ...undone]
  const [first] = done
  const isOfProject = isOfClaude(host, target.scope) && target.scope !== 'user'
  if (target.scope !== 'user' && first !== undefined) {
    const isExposed = ofProject.some(({ file }) => path.basename(file) === '.gitignore')
    lines.push(...keptInSpecs(context, target.project, isExposed))
  }
  const ofScopes = isOfProject && options.scope === undefined ? settingsLocations(context, target.project) : undefined
  const searched = ofScopes?.flatMap(({ scope, file }) => (scope === 'user' ? [] : [file])) ?? target.files
  const places = searched.map((file) => displayPath(context, file)).join(' or ')
  const shown = [...(lines.length > 0 ? lines : [`The ${target.what} is not in ${places}`]), ...left]
  endWithFailures(failures, shown, surroundings)
  return {
    data: {
      file: first?.file ?? (target.files.at(-1) as string),
      changed: first !== undefined,
      dry_run: dryRun,
      removed_file: first !== undefined && first.after === undefined,
      taken_out_of: done.map(({ file }) => file),
    },
    lines: shown,
  }
}

/** Rules about our commands stay in Claude Code's settings: the user may have written them. */
function keptRules(context: CommandContext, files: readonly string[], removals: readonly Removal[]): string[] {
  return files.flatMap((file) => {
    const removal = removals.find((one) => one.file === file)
    const text = removal === undefined ? readSettingsFile(file) : removal.after
    const count = countRules(text ?? '', file)
    if (count === 0) return []
    const [rules, them] = count === 1 ? ['a permission rule', 'it'] : [`${count} permission rules`, 'them']
    const shown = displayPath(context, file)
    const why = `because no record says that \`postflight init\` added ${them}`
    return [`Kept ${rules} about postflight in ${shown}, ${why}. To remove ${them}, edit "permissions" in that file`]
  })
}

function keptInSpecs(context: CommandContext, project: string, isExposed: boolean): string[] {
  const doneFile = displayPath(context, doneFilePath(project))
  const { length } = viewMarkers(project, context.nowMs).markers
  const clear = `${commandLine(['clear'], context.rootOption)} --all`
  const them = length === 1 ? 'it' : 'them'
  const markers = `${counted(length, 'marker')} in ${SPECS_FOLDER}/`
  const exposed = isExposed ? `, and git no longer ignores ${them}` : ''
  return [
    ...(readDoneFile(project).kind === 'absent' ? [] : [keptFile(doneFile, 'it belongs to the project')]),
    ...(length === 0 ? [] : [`Kept ${markers}${exposed}. To clear ${them}: \`${clear}\``]),
  ]
}

function stillWired(context: CommandContext, host: string, done: Target): string[] {
  const isOfProject = host === 'claude' && done.scope !== 'user'
  const hosts = isOfProject ? HOSTS.filter((one) => one !== 'claude') : []
  const listed = new Set(done.files)
  const places = [...SCOPES.map((scope) => ({ host, scope })), ...hosts.map((one) => ({ host: one, scope: 'project' }))]
  return places.flatMap((other) => {
    try {
      const target = targetOf(context, other.host, other.scope)
      const [{ file } = {}] = removalsFrom(
        target,
        target.files.filter((one) => !listed.has(one)),
      )
      if (file === undefined) return []
      listed.add(file)
      const isDefault = other.scope === 'project' && other.host !== host
      const scope = isDefault ? '' : ` --scope ${other.scope}`
      const options = `${other.host === 'claude' ? '' : ` --host ${other.host}`}${scope}`
      const command = `${uninstallLine(context)}${options}`
      return [`The ${target.what} is still in ${displayPath(context, file)}: \`${command}\` removes it`]
    } catch {
      // The host lacks this scope, or the file does not parse or leads out of the project: `doctor` reports that.
      return []
    }
  })
}

function scopeThatHolds(context: CommandContext, host: string): string {
  if (!isOfClaude(host, 'project')) return 'project'
  const project = projectFolder(context)
  const locations = settingsLocations(context, project).filter(({ scope }) => scope !== 'user')
  const holds = locations.find(({ scope, text, file }) => targetOf(context, host, scope).remove(text, file) !== text)
  // An unreadable file may hold the hook.
  const fault = locations.find((one) => one.fault !== undefined)?.fault
  if (holds === undefined && fault !== undefined) throw fault
  // An interrupted `uninstall` left only the record.
  const left = holds ?? locations.find(({ file }) => kindIfSeen(recordOf(file)) === 'file')
  return left?.scope ?? 'project'
}

function projectLine(context: CommandContext, { file, after, kept }: ProjectRemoval, dryRun: boolean): string {
  const shown = displayPath(context, file)
  if (kept) return keptFile(shown, 'it was changed after `postflight init` wrote it')
  return `${removed(dryRun)} ${after === undefined ? shown : `our lines from ${shown}`}`
}

function keptFile(file: string, why: string): string {
  return `Kept ${file}, because ${why}. To remove it: \`rm ${shellWord(file)}\``
}
