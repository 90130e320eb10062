import path from 'node:path'
import { readSmallFile } from '../../disk/read.ts'
import { HOOK_HOSTS, type HookHost } from '../../hosts/hook-hosts.ts'
import { errorFault } from '../../kernel/error-messages.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { findPlaces } from '../claude-hooks.ts'
import { projectFolder } from '../install/host-entry.ts'
import { ourHooks } from '../install/our-hooks.ts'
import { hookHostPlaces, type SettingsPlace } from '../install/wiring.ts'
import { hookHostFolder } from '../settings-paths.ts'
import { HOST_FINDINGS } from './doctor-messages.ts'
import { checkEntries } from './entry-findings.ts'
import { bad, type DoctorFinding } from './finding.ts'

/**
 * Checks the hook in the settings of the hosts besides Claude Code. They are optional: where they do not have it, there is
 * nothing to report.
 */
export function checkHookHosts(context: CommandContext): DoctorFinding[] {
  const project = projectFolder(context)
  const hosts: [string, HookHost][] = Object.entries(HOOK_HOSTS)
  return hosts.flatMap(([name, host]) => checkHost(context, name, host, project))
}

function checkHost(context: CommandContext, name: string, host: HookHost, project: string): DoctorFinding[] {
  const places = hookHostPlaces(context, host, project)
  const own = places.filter((place) => !place.isClaudes)
  // A file without the hook is not checked: some hosts allow comments in theirs.
  const faults = own.flatMap(({ fault, file }) =>
    fault === undefined || !namesHook(file)
      ? []
      : [bad('settings', errorFault(fault.code, fault.args), HOST_FINDINGS.repair(host.title))],
  )
  const wired = places.filter(({ commands }) => commands.length > 0)
  const entries = own
    .filter((place) => wired.includes(place))
    .flatMap((place) => [
      checkEntries(context, place, project, { ...host, install: `postflight install --host ${name}` }),
      ...(host.trust === 'hooks' ? checkTrust(context, host, place) : []),
    ])
  // Entries that are only in Claude Code's settings are checked with those.
  if (entries.length === 0 || wired.length === 1) return [...faults, ...entries]
  const removals = wired
    .slice(1)
    .map(({ scope }) => `postflight uninstall --host ${name} --scope ${scope}`)
    .join(' && ')
  const files = wired.map(({ file }) => file)
  return [...faults, ...entries, bad('settings', HOST_FINDINGS.installedTwice(host.title, files), removals)]
}

/** The size of the largest configuration that is searched, in bytes. */
const CONFIGURATION_LIMIT = 4_194_304

/**
 * Codex 0.169.0 keeps its user's trust in `config.toml`, by file, event and indices, each hook on its own. Whether the
 * trusted hook is the present one is known to Codex alone.
 */
function checkTrust(context: CommandContext, host: HookHost, { file, text = '' }: SettingsPlace): DoctorFinding[] {
  const { environment, findHome } = context
  const configuration = textOf(path.join(hookHostFolder(host, findHome(), environment), 'config.toml'))
  const untrusted = findPlaces(text, file, ourHooks(context, projectFolder(context))).filter(
    ({ event, group, hook }) => {
      const label = event.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()
      // A TOML key has JSON's escapes, or none.
      const key = `${file}:${label}:${group}:${hook}`
      return !configuration.includes(JSON.stringify(key)) && !configuration.includes(`'${key}'`)
    },
  )
  const events = untrusted.map(({ event }) => event)
  return events.length === 0 ? [] : [bad('settings', HOST_FINDINGS.untrusted(file, events), HOST_FINDINGS.trust)]
}

/** The folders of hosts where the hook does not work, with the file in which people may have put it. */
const UNSUPPORTED = [
  { folder: '.gemini', file: 'settings.json', isInProjects: true, what: HOST_FINDINGS.gemini },
  { folder: '.kimi-code', file: 'config.toml', isInProjects: false, what: HOST_FINDINGS.kimi },
] as const

/** Warns about hosts where the hook does not work, if their settings have it. */
export function checkUnsupportedHosts(context: CommandContext): DoctorFinding[] {
  const project = projectFolder(context)
  return UNSUPPORTED.flatMap(({ folder, file, isInProjects, what }) => {
    const places = new Set([...(isInProjects ? [project] : []), context.findHome()])
    return [...places]
      .map((place) => path.join(place, folder, file))
      .filter(namesHook)
      .map((each) => bad('settings', what(each), HOST_FINDINGS.removeEntry))
  })
}

function namesHook(file: string): boolean {
  return textOf(file).includes('postflight-hook')
}

function textOf(file: string): string {
  const read = readSmallFile(file, CONFIGURATION_LIMIT)
  return read.kind === 'text' ? read.text : ''
}
