import { claudeEntries } from '../../hosts/hook-entries.ts'
import { errorFault } from '../../kernel/error-messages.ts'
import { shellWord } from '../../kernel/text.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { hookCommand, projectFolder } from '../install/host-entry.ts'
import {
  enabledPlugin,
  guardDisabledIn,
  hooksDisabledIn,
  type SettingsPlace,
  settingsPlaces,
} from '../install/wiring.ts'
import type { Scope } from '../settings-paths.ts'
import { HOOK_FINDINGS } from './doctor-messages.ts'
import { checkEntries, type WiredHost } from './entry-findings.ts'
import { bad, type DoctorFinding, good } from './finding.ts'
import { findWiredCopy } from './wired-copy.ts'

/**
 * Checks that Claude Code starts the hook exactly once, and that nothing switches it off. With `elsewhere`, another
 * host has the hook, so Claude Code does not need it.
 */
export function checkSettings(context: CommandContext, elsewhere: boolean): DoctorFinding[] {
  const project = projectFolder(context)
  const places = settingsPlaces(context, project)
  const off = switchedOff(context, places)
  // A hook that is switched off is not reported as one that works.
  const inForce = (wired: Wired): Wired =>
    off.length > 0 ? { ...wired, findings: wired.findings.filter(({ ok }) => !ok) } : wired
  const wired = [...places.flatMap((place) => wiredBySettings(context, place, project)), ...wiredByPlugin(places)].map(
    inForce,
  )
  const faults = places.flatMap(({ fault }) =>
    fault === undefined ? [] : [bad('settings', errorFault(fault.code, fault.args), HOOK_FINDINGS.repairSettings)],
  )
  const findings = [...off, ...faults, ...checkOnce(wired)]
  if (findings.length > 0 || elsewhere) return findings
  const { portable } = hookCommand(context, 'project', project)
  return [bad('settings', HOOK_FINDINGS.notInstalled, `postflight install${portable ? '' : ' --scope local'}`)]
}

/** A place that wires the hook. */
interface Wired {
  readonly where: string
  /** The command that removes the hook there. */
  readonly removal: string
  /** The commands that run at stops. */
  readonly stops: readonly string[]
  readonly findings: readonly DoctorFinding[]
  /** Of several places, the one with the lowest rank stays. */
  readonly rank: number
}

const STOPS: readonly string[] = ['SubagentStop', 'Stop']

const CLAUDE_CODE: WiredHost = { tellsProject: true, entries: claudeEntries, install: 'postflight install' }

/** The scope whose entries stay if several have them: first the one for all projects, last the one that is not shared. */
const RANKS: Readonly<Record<Scope, number>> = { user: 3, project: 4, local: 5 }

function switchedOff(context: CommandContext, places: readonly SettingsPlace[]): DoctorFinding[] {
  const hooksOff = hooksDisabledIn(places)
  const guardOff = guardDisabledIn(context, places)
  return [
    ...(hooksOff === undefined
      ? []
      : [bad('settings', HOOK_FINDINGS.hooksDisabled(hooksOff), HOOK_FINDINGS.enableHooks)]),
    ...(guardOff === undefined
      ? []
      : [
          bad(
            'settings',
            HOOK_FINDINGS.guardDisabled(guardOff.file),
            guardOff.file === undefined ? 'unset POSTFLIGHT_DISABLE' : HOOK_FINDINGS.enableGuard,
          ),
        ]),
  ]
}

/** Checks that only one place has the hook. Claude Code 2.1.329 runs a command once, however many settings list it. */
function checkOnce(wired: readonly Wired[]): DoctorFinding[] {
  const [only, ...others] = [...wired].sort(
    (one, other) => Number(isBroken(one)) - Number(isBroken(other)) || one.rank - other.rank,
  )
  if (only === undefined) return []
  if (others.length === 0) return [...only.findings]
  const commands = new Set(wired.flatMap(({ stops }) => stops))
  const cost = commands.size === 1 ? HOOK_FINDINGS.sameCommand : HOOK_FINDINGS.differentCommands
  const places = [only, ...others].map(({ where }) => where)
  const removals = others.map(({ removal }) => removal).join(' && ')
  // The problems of a place that should be removed need no separate fix.
  const kept = [...only.findings, ...others.flatMap(({ findings }) => findings.filter(({ ok }) => ok))]
  return [...kept, bad('settings', HOOK_FINDINGS.installedTwice(places, cost), removals)]
}

function isBroken({ findings }: Wired): boolean {
  return findings.some(({ ok }) => !ok)
}

function wiredBySettings(context: CommandContext, place: SettingsPlace, project: string): Wired[] {
  const { scope, file, commands } = place
  if (commands.length === 0) return []
  const copy = findWiredCopy(commands, project)
  const finding = checkEntries(context, place, project, CLAUDE_CODE)
  return [
    {
      where: file,
      removal: `postflight uninstall --scope ${scope}`,
      stops: commands.flatMap(({ event, command }) => (STOPS.includes(event) ? [command] : [])),
      findings: [finding],
      // An entry that a team shares comes before one for this machine.
      rank: copy.portable && scope === 'project' ? 1 : RANKS[scope],
    },
  ]
}

function wiredByPlugin(places: readonly SettingsPlace[]): Wired[] {
  const plugin = enabledPlugin(places)
  if (plugin === undefined) return []
  const findings = [good('settings', HOOK_FINDINGS.plugin(plugin.name, plugin.file))]
  const removal = `claude plugin disable ${shellWord(plugin.name)}`
  return [{ where: HOOK_FINDINGS.pluginPlace(plugin.name), removal, stops: [plugin.name], findings, rank: 2 }]
}
