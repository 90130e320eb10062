import * as z from 'zod/mini'
import { hookHost } from '../../hosts/hook-hosts.ts'
import { listed } from '../../kernel/text.ts'
import { type CommandContext, displayPath } from '../../project/command-context.ts'
import { offWarnings } from '../../setup/doctor/claude-findings.ts'
import { cacheWarning } from '../../setup/install/our-hooks.ts'
import type { Removal, Target } from '../../setup/install/target.ts'
import * as targets from '../../setup/install/target.ts'
import { notPortable, RESTART, SHARED_WITH_CLAUDE } from '../../setup/settings-messages.ts'
import { readSettingsFile } from '../../setup/settings-paths.ts'
import { replaceSettingsFile } from '../../setup/settings-replace.ts'
import * as field from '../../views/documents.ts'
import { type Declaration, HOST, type Run, SCOPE } from '../command.ts'

export const declaration = {
  description: "add the hook (or the plugin) to a host's settings",
  examples: [
    'install --scope local',
    'install --scope user --dry-run',
    'install --reactive reactive.json --dry-run',
    'install --host codex',
    'install --host opencode --scope user',
  ],
  declare: (command) =>
    command
      .option(...HOST)
      .option('--scope <scope>', SCOPE, 'project')
      .option(
        '--reactive <file>',
        'write the reactive rules of a JSON file as hooks of Claude Code instead; they replace the existing rules',
      )
      .option('--dry-run', 'only print what would be written', false)
      .option('--force', 'install even if the hook is installed elsewhere', false),
} satisfies Declaration

export const document = () => {
  const installed = field.object({
    ...settingsFields(),
    backup: field.optionalText('The backup of the file.'),
    portable: field.flag('False if the entry holds a path on this machine.'),
    taken_out_of: takenOutOf(),
  })
  return z.union([
    z.extend(installed, { command: field.text('The command that the host starts.') }),
    z.extend(installed, { plugin: field.text('Where the host finds the plugin.') }),
    z.extend(installed, {
      rules: field.text('The file of the reactive rules.'),
      notes: field.texts('A part of a rule that hooks of Claude Code do not support.'),
    }),
  ])
}

export const settingsFields = () => ({
  file: field.text('The settings file.'),
  changed: field.flag('False if nothing had to change.'),
  dry_run: field.flag('True if nothing was written: this is what would be written.'),
})

export const takenOutOf = () => field.texts('Another file, from which our entries were removed.')

export const run: Run<typeof declaration, typeof document> = (context, _given, options) => {
  const { host, scope, reactive: rules, dryRun, force } = options
  const target =
    rules === undefined ? targets.targetOf(context, host, scope) : targets.reactiveTarget(context, host, scope, rules)
  const ofClaude = targets.isOfClaude(host, target.scope)
  if (!force && target.what === 'hook') targets.refuseSecond(context, host, target)
  const location = targets.locationOf(target)
  const before = readSettingsFile(location)
  const after = target.add(before ?? '', location)
  // Plans everything before it writes: a file that does not parse stops the command.
  const others = target.files.filter((file) => file !== location)
  const removals = targets.removalsFrom(target, others)
  const added = before !== after
  const changed = added || removals.length > 0
  const backup = added && !dryRun ? replaceSettingsFile(location, after, before) : undefined
  if (!dryRun) for (const removal of removals) targets.carryOut(removal)
  const shown = displayPath(context, location)
  const lines = added
    ? [`${dryRun ? 'Would install' : 'Installed'} the ${target.what} in ${shown}`]
    : [`The ${target.what} ${target.what === 'reactive rules' ? 'are' : 'is'} already in ${shown}`]
  if (dryRun && added) lines.push(after.trimEnd())
  if (backup !== undefined) lines.push(`Backup: ${displayPath(context, backup)}`)
  lines.push(...removals.map((removal) => removalLine(context, target, removal, dryRun)))
  if (changed && !dryRun) lines.push(RESTART)
  if (host !== 'claude' && ofClaude && location === target.files.at(-1)) lines.push(SHARED_WITH_CLAUDE)
  lines.push(...target.notes)
  if (added && target.scope === 'project' && !target.portable) {
    const canBePortable = hookHost(host)?.tellsProject ?? true
    lines.push(canBePortable ? notPortable(ofClaude ? 'local' : 'user') : NEVER_PORTABLE)
  }
  if (ofClaude) lines.push(...offWarnings(context, target.project))
  const cached = added && !target.portable ? cacheWarning(context) : undefined
  if (cached !== undefined) lines.push(cached)
  return {
    data: {
      file: location,
      changed,
      dry_run: dryRun,
      backup: backup ?? null,
      ...entryOf(target),
      portable: target.portable,
      taken_out_of: removals.map(({ file }) => file),
    },
    lines,
  }
}

const NEVER_PORTABLE =
  'This entry names a path on this machine, because the host does not tell its hooks where the project is: --scope user keeps the path out of shared files'

function entryOf({ what, entry, notes }: Target) {
  if (what === 'reactive rules') return { rules: entry, notes: [...notes] }
  return what === 'hook' ? { command: entry } : { plugin: entry }
}

export function removalLine(context: CommandContext, target: Target, removal: Removal, dryRun: boolean): string {
  const { file, before, after } = removal
  const shown = displayPath(context, file)
  if (after === undefined) return `${removed(dryRun)} ${shown}: it held nothing else`
  const others = [
    ...(target.mayHaveRules && targets.holdsReactive(before, file) ? ['the reactive rules'] : []),
    ...(target.mayHaveRules && targets.holdsOurRules(before, file) ? ['our permission rules'] : []),
  ]
  const hasEntry = target.holds(before, file) || others.length === 0
  return `${removed(dryRun)} ${listed(hasEntry ? [`the ${target.what}`, ...others] : others)} from ${shown}`
}

export function removed(isDryRun: boolean): string {
  return isDryRun ? 'Would remove' : 'Removed'
}
