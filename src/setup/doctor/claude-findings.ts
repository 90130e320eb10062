import fs from 'node:fs'
import path from 'node:path'
import { textIn } from '../../disk/read.ts'
import { claudeEntries, fileOfCommand, type HookHost, withoutEventWord } from '../../hosts/hook-entries.ts'
import { type CommandForm, commandLine } from '../../kernel/command-line.ts'
import { errorFault } from '../../kernel/errors.ts'
import { listed, oneLine, shellWord } from '../../kernel/text.ts'
import { isJsonObject, jsonObjectIn, variable } from '../../kernel/values.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { findCommandForm, isExecutable } from '../../project/root.ts'
import { isInstalled, type WiredCommand } from '../claude-hooks.ts'
import { packageTool } from '../install/done-proposal.ts'
import { hookCommand, ourHooks } from '../install/our-hooks.ts'
import * as wiring from '../install/wiring.ts'
import { claudeFolder, type Scope } from '../settings-paths.ts'
import { bad, type DoctorFinding, good } from './project-findings.ts'

/** With `elsewhere`, another host has the hook, so Claude Code does not need it. */
export function checkSettings(context: CommandContext, project: string, elsewhere: boolean): DoctorFinding[] {
  const locations = wiring.sessionLocations(context, project)
  const wired = [
    ...locations.flatMap((one) => wiredBySettings(context, one, project)),
    ...wiredByPlugin(context, locations),
  ]
  const off = switchedOff(context, elsewhere && wired.length === 0 ? [] : locations)
  const repair = 'repair the file by hand: until then Claude Code may ignore all of it'
  const faults = locations.flatMap(({ fault, kind }) =>
    // In those of an organization, a wrong value does not make Claude Code ignore the others (2.1.332).
    fault === undefined || kind === 'managed' ? [] : [bad('settings', errorFault(fault.code, fault.args), repair)],
  )
  // A hook that is switched off is not reported as one that works.
  const installed = checkOnce(wired).filter(({ ok }) => off.length === 0 || !ok)
  const findings = [...off, ...faults, ...installed]
  if (findings.length > 0 || elsewhere) return findings
  const notInstalled = 'the hook is not installed in any settings file of Claude Code'
  return [bad('settings', notInstalled, commandLine(['init'], context.rootOption))]
}

const STOPS: readonly string[] = ['SubagentStop', 'Stop']
const DONE_EVENTS: readonly string[] = ['Stop', 'SessionStart', 'PreToolUse']

const CLAUDE_CODE: WiredHost = { tellsProject: true, entries: claudeEntries, hostOption: '' }

const RANKS: Readonly<Record<Scope, number>> = { user: 3, project: 4, local: 5 }

/** For a command that has just installed the hook. */
export function offWarnings(context: CommandContext, project: string, label = 'Warning') {
  const off = switchedOff(context, wiring.sessionLocations(context, project))
  return off.map((finding) => asWarning(finding, label))
}

export function asWarning({ what, fix }: DoctorFinding, label = 'Warning'): string {
  return `${label}: ${what}: ${fix}`
}

function switchedOff({ environment }: CommandContext, locations: wiring.Locations): DoctorFinding[] {
  const managed = locations.filter(({ kind }) => kind === 'managed')
  const others = locations.filter(({ kind }) => kind !== 'managed')
  // Other settings do not switch such a hook off (2.1.332).
  const isManaged = wiring.enabledPlugin(managed) !== undefined || managed.some(({ commands }) => commands.length > 0)
  const findings: DoctorFinding[] = []
  const forbidding = managed.find(({ text }) => {
    const { disableAllHooks, allowManagedHooksOnly, strictPluginOnlyCustomization: locked } = jsonObjectIn(text)
    const isLocked = locked === true || (Array.isArray(locked) && locked.includes('hooks'))
    const isOursForbidden = allowManagedHooksOnly === true || (isLocked && wiring.enabledPlugin(others) === undefined)
    return disableAllHooks === true || (isOursForbidden && !isManaged)
  })
  if (forbidding !== undefined) {
    const fix =
      'ask your administrator to allow it there, or to add the entries that `postflight install --dry-run` prints'
    findings.push(bad('settings', `${forbidding.file} forbids other hooks, so Claude Code does not run this one`, fix))
  }
  const hooksOff = isManaged ? undefined : wiring.hooksDisabledIn(others)
  if (hooksOff !== undefined) findings.push(hooksDisabled(hooksOff, 'Claude Code'))
  // Claude Code's settings come before its environment.
  const set = wiring.effective(locations, ({ env }) => (isJsonObject(env) ? env.POSTFLIGHT_DISABLE : undefined))
  if (String(set === undefined ? environment.POSTFLIGHT_DISABLE : set.value) === '1') {
    const what = `POSTFLIGHT_DISABLE=1 is set in ${set?.file ?? 'the environment'}, so the hook allows every stop`
    const fix = set === undefined ? 'unset POSTFLIGHT_DISABLE' : 'remove POSTFLIGHT_DISABLE from "env" in that file'
    findings.push(bad('settings', what, fix))
  }
  return findings
}

export function hooksDisabled(file: string, title: string, name = 'disableAllHooks'): DoctorFinding {
  return bad('settings', `${file} sets ${name}, so ${title} runs no hook`, `remove ${name} from that file`)
}

/** Claude Code 2.1.329 runs a command once, however many settings list it. */
function checkOnce(wired: readonly Wired[]): DoctorFinding[] {
  const [only, ...others] = wired.toSorted(
    (one, other) => Number(other.finding.ok) - Number(one.finding.ok) || one.rank - other.rank,
  )
  if (only === undefined) return []
  const commands = new Set(wired.flatMap(({ stops }) => stops))
  if (others.length === 0 || (commands.size === 1 && wired.filter(({ shared }) => shared).length < 2))
    return wired.map(({ finding }) => finding)
  const cost =
    commands.size === 1
      ? 'Claude Code runs the same command once, but other hosts run each of them, and one stop then counts several times'
      : 'the host runs each of them, so one stop counts several times'
  const locations = listed([only, ...others].map(({ where }) => where))
  const removals = others.flatMap(({ removal }) => removal ?? []).join(' && ')
  const fix = removals || 'ask your administrator to leave only one of them'
  // The problems of a place that should be removed need no separate fix.
  const kept = [only.finding, ...others.flatMap(({ finding }) => (finding.ok ? finding : []))]
  return [...kept, bad('settings', `the hook is installed more than once, in ${locations}: ${cost}`, fix)]
}

function stopsOf(commands: readonly WiredCommand[]): string[] {
  return commands.flatMap(({ event, command }) => (STOPS.includes(event) ? [withoutEventWord(command)] : []))
}

/** `removal`: none for what an organization set. `shared`: whether other hosts read it too. */
interface Wired {
  readonly where: string
  readonly stops: readonly string[]
  readonly removal?: string | undefined
  readonly shared: boolean
  readonly finding: DoctorFinding
  readonly rank: number
}

function wiredBySettings(context: CommandContext, location: wiring.SettingsLocation, project: string): Wired[] {
  const { scope, file, commands, kind } = location
  if (commands.length === 0) return []
  // Only Claude Code reads those of an organization, and the main checkout's in a linked worktree.
  const shared = kind !== 'managed' && location.project === project
  const wired = { where: file, stops: stopsOf(commands), shared }
  if (kind === 'managed') {
    const finding = good('settings', `your organization installs the hook, in ${file}`)
    return [{ ...wired, finding, rank: 0 }]
  }
  const copy = findWiredCopy(commands, project)
  // The file of a linked worktree's main checkout is repaired there.
  const at = location.project === project ? context : { ...context, rootOption: location.project }
  const finding = checkEntries(at, location, project, CLAUDE_CODE)
  return [
    {
      ...wired,
      removal: `${wiring.uninstallLine(at)} --scope ${scope}`,
      finding,
      // A team's entry comes before one for this machine.
      rank: copy.portable && scope === 'project' ? 1 : RANKS[scope],
    },
  ]
}

function wiredByPlugin(context: CommandContext, locations: wiring.Locations): Wired[] {
  const plugin = wiring.enabledPlugin(locations)
  if (plugin === undefined) return []
  const where = `the plugin ${plugin.name}`
  const unknown = `${plugin.file} enables ${where}, but Claude Code does not know its marketplace, so it does not load it`
  const finding =
    plugin.isManaged || knowsMarketplace(context, locations, plugin.name)
      ? good('settings', `${where} brings the hook (${plugin.file})`)
      : bad('settings', unknown, 'add its marketplace with `claude plugin marketplace add`')
  const removal = plugin.isManaged ? undefined : `claude plugin disable ${shellWord(plugin.name)}`
  return [{ where, removal, stops: [plugin.name], shared: true, finding, rank: 2 }]
}

/** Those that project settings name are added at the first start after the folder is trusted (2.1.332). */
function knowsMarketplace(context: CommandContext, locations: wiring.Locations, plugin: string): boolean {
  const named = (name: string) => variable(context.environment, `CLAUDE_CODE_PLUGIN_${name}_DIR`)
  const folder = named('CACHE') ?? path.join(claudeFolder(context, 'user', ''), 'plugins')
  const added = jsonObjectIn(textIn(path.join(folder, 'known_marketplaces.json')) ?? '')
  const users = locations.filter(({ scope }) => scope === 'user')
  const lists = [added, ...users.map(({ text }) => jsonObjectIn(text).extraKnownMarketplaces)]
  const name = plugin.slice(plugin.indexOf('@') + 1)
  return named('SEED') !== undefined || lists.some((list) => isJsonObject(list) && Object.hasOwn(list, name))
}

type WiredHost = Pick<HookHost, 'tellsProject' | 'entries'> & Readonly<{ hostOption: string }>

export function checkEntries(
  context: CommandContext,
  location: wiring.SettingsLocation,
  project: string,
  host: WiredHost,
): DoctorFinding {
  const { scope, file, text, commands } = location
  const copy = findWiredCopy(commands, project)
  const { command, portable } = hookCommand(context, scope, project, host)
  const isOurs = ourHooks(context, project)
  const holds = (one: string): boolean => isInstalled(text, host.entries(one), location, isOurs)
  // Some hosts read only the settings of the folder in which they start (docs/hosts.md, "Wiring").
  const reach = scope === 'user' || context.cwd === project ? '' : `, for sessions that start in ${project}`
  if (holds(command)) return good('settings', `the hook is installed in ${file}${reach}`)
  // The project's own entry is never replaced by a path of this machine: its own copy repairs it.
  const isTheirs = copy.portable && !portable
  if (isTheirs && copy.problem !== undefined) {
    const what = `${file} starts the project's own copy, which does not work here: ${copy.problem}`
    return bad('settings', what, installCommand(project))
  }
  if (isTheirs && holds(copy.command)) {
    return good('settings', `the project's own copy of the hook is installed in ${file}${reach}`)
  }
  const install = `${commandLine(['install'], context.rootOption)}${host.hostOption} --scope ${scope}`
  const wrong = (what: string) => bad('settings', `${file} ${what}`, `${isTheirs ? 'npx --no-install ' : ''}${install}`)
  const strange = isTheirs ? undefined : commands.find((one) => !one.command.startsWith(command))
  if (strange !== undefined) {
    const isSameCopy = copy.file === findWiredCopy([{ event: '', command }], project).file
    return wrong(
      isSameCopy
        ? 'starts the hook by another command than `install` writes'
        : `starts another copy: ${oneLine(strange.command, 200)}`,
    )
  }
  const isDoubled = new Set(commands.map((one) => `${one.event} ${one.command}`)).size < commands.length
  if (isDoubled) return wrong('lists the hook more than once')
  const old = commands.find((one) => DONE_EVENTS.includes(one.event) && withoutEventWord(one.command) === one.command)
  if (old !== undefined) {
    return wrong(`has an entry for ${old.event} of an earlier version, which does not look for specs/done.yaml`)
  }
  const isIncomplete = host.entries(command).some(({ event }) => !commands.some((one) => one.event === event))
  return wrong(
    isIncomplete
      ? 'lists the hook for some of its events only'
      : 'has entries that differ from those that `install` writes',
  )
}

const PROJECT = /^\$(?:CLAUDE_PROJECT_DIR|\{CLAUDE_PROJECT_DIR\})\//

function findWiredCopy(commands: readonly Pick<WiredCommand, 'event' | 'command'>[], project: string) {
  const { command: entry = '' } = commands.find(({ event }) => event === 'Stop') ?? commands[0] ?? {}
  const command = withoutEventWord(entry)
  const named = fileOfCommand(command)
  const portable = PROJECT.test(named ?? '')
  const file = portable ? path.join(project, (named ?? '').replace(PROJECT, '')) : named
  return { command, file, portable, problem: file === undefined ? undefined : problemOf(file) }
}

function problemOf(file: string): string | undefined {
  const bundle = file.endsWith('hook.js') ? file : path.join(path.dirname(file), '..', 'dist', 'hook.js')
  for (const each of [file, bundle]) if (!fs.existsSync(each)) return `${each} is missing`
  return file === bundle || isExecutable(file) ? undefined : `${file} is not executable`
}

export function installCommand(project: string): string {
  const tool = packageTool(project)
  const isLocked = tool === 'npm' && fs.existsSync(path.join(project, 'package-lock.json'))
  return isLocked ? 'npm ci' : `${tool} install`
}

/** On Claude Code the hook adds the package's folder to the PATH when a session starts. */
export function checkReach(context: CommandContext, project: string): DoctorFinding {
  const { packageFolder, platform } = context
  const { onPath, byNpx } = formOf(context, project)
  const locations = wiring.sessionLocations(context, project)
  if (onPath) return good('cli', '`postflight` is on the PATH')
  if (wiring.enabledPlugin(locations) !== undefined)
    return good('cli', "the plugin adds `postflight` to the PATH of the agent's shell")
  if (platform !== 'win32' && locations.some(({ commands }) => sharesItself(commands, project))) {
    return good('cli', "the hook adds `postflight` to the PATH of the agent's shell when a session starts")
  }
  if (byNpx) return good('cli', "the agent's shell finds the command as `npx --no-install postflight`")
  const unreachable = "the agent's shell does not find `postflight`, so skills cannot create markers"
  return bad('cli', unreachable, `npm install --global ${shellWord(packageFolder)}`)
}

export function npxNote(context: FormSource & Pick<CommandContext, 'cwd'>): string | undefined {
  const { onPath, byNpx } = formOf(context, context.cwd)
  const tool = byNpx ? 'npx' : 'yarn'
  if (onPath || (!byNpx && context.environment.BERRY_BIN_FOLDER === undefined)) return undefined
  return `Type \`${tool} postflight\` instead of \`postflight\`, which is not on the PATH here.`
}

type FormSource = Pick<CommandContext, 'environment' | 'packageFolder'>

function formOf({ environment, packageFolder }: FormSource, project: string): CommandForm {
  const script = path.join(packageFolder, 'bin', 'postflight.js')
  return findCommandForm({ ...environment, PATH: agentsPath(environment) }, script, project)
}

/** npx, Yarn and Bun put folders on the PATH of the process that they start alone. In one of them, Bun is `node`. */
export function agentsPath(environment: CommandContext['environment']): string {
  const folders = (environment.PATH ?? environment.Path ?? '').split(path.delimiter)
  const isOwn = /[/\\](?:\.bin|bun-node-[^/\\]*)$/
  const others = folders.filter((folder) => !isOwn.test(folder) && folder !== environment.BERRY_BIN_FOLDER)
  return (environment.npm_config_user_agent === undefined ? folders : others).join(path.delimiter)
}

function sharesItself(commands: readonly WiredCommand[], project: string): boolean {
  const starts = commands.filter(({ event }) => event === 'SessionStart')
  const { file } = findWiredCopy(starts, project)
  return file?.endsWith('postflight-hook') === true && fs.existsSync(path.join(file, '..', '..', 'bin', 'postflight'))
}
