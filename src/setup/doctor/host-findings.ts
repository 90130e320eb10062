import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { realPathIfSeen } from '../../disk/file-facts.ts'
import { readSmallFile } from '../../disk/read.ts'
import { claudeEntries, type HookHost } from '../../hosts/hook-entries.ts'
import { HOOK_HOSTS, UNSUPPORTED_HOSTS } from '../../hosts/hook-hosts.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { errorFault, PostflightError } from '../../kernel/errors.ts'
import { counted, listed, oneLine, quote, shellWord } from '../../kernel/text.ts'
import { attempt, jsonObjectIn } from '../../kernel/values.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { isExecutable } from '../../project/root.ts'
import { findCommands } from '../claude-hooks.ts'
import { openCodePlugin, ourPlugins } from '../install/our-hooks.ts'
import type { SettingsLocation } from '../install/wiring.ts'
import * as wiring from '../install/wiring.ts'
import { findPlugins, PLUGIN_FILE } from '../opencode-plugins.ts'
import { isReactiveHook } from '../reactive/reactive-rule.ts'
import type { HostScope, Scope } from '../settings-paths.ts'
import {
  HOST_SCOPES,
  hookHostFolder,
  hookHostSettingsPath,
  openCodeConfigPaths,
  readSettingsFile,
  requireInside,
} from '../settings-paths.ts'
import { agentsPath, checkEntries, hooksDisabled, installCommand } from './claude-findings.ts'
import { bad, type DoctorFinding, good } from './project-findings.ts'

const REBUILD = 'run `npm run build`, or install the package again'

export function checkHook(context: CommandContext): DoctorFinding[] {
  const { packageFolder, platform } = context
  const bundle = path.join(packageFolder, 'dist', 'hook.js')
  const launcher = path.join(packageFolder, 'hooks', 'postflight-hook')
  if (!fs.existsSync(bundle)) return [bad('hook', `${bundle} is missing`, REBUILD)]
  const findings: DoctorFinding[] = []
  if (platform !== 'win32' && !isExecutable(launcher)) {
    // A folder that cannot be entered throws.
    const isMarked = attempt(() => (fs.statSync(launcher).mode & 0o111) === 0o111, false)
    const elsewhere = 'install the package on a file system that is mounted without noexec'
    findings.push(
      bad('hook', `${launcher} is not executable`, isMarked ? elsewhere : `chmod +x ${shellWord(launcher)}`),
    )
  }
  // Starts the bundle by the launcher's `node`: the launcher itself hides a broken one. A stop would be counted in
  // every root of this environment.
  const payload = '{"hook_event_name":"doctor"}'
  const { status, answer, detail } = runNode('node', context, [bundle, '--root', packageFolder], payload)
  if (status === 0 && answer !== '') {
    return [...findings, good('hook', `the hook runs (it answered ${answer.slice(0, 80)})`)]
  }
  const fix = "put Node 20.19, or 22.12 or later, on your agent's PATH, or install the package again"
  return [...findings, bad('hook', `the hook does not answer (${detail})`, fix)]
}

export function checkHookHosts(context: CommandContext, project: string): DoctorFinding[] {
  return Object.entries(HOOK_HOSTS).flatMap(([name, host]) => checkHost(context, name, host, project))
}

function checkHost(context: CommandContext, name: string, host: HookHost, project: string): DoctorFinding[] {
  const locations = wiring.hookHostLocations(context, host, project)
  const own = locations.filter(({ kind }) => kind === 'own')
  const repair = `repair the file by hand: until then ${host.title} may ignore all of it`
  const faults = own.flatMap(({ fault, file, scope }) =>
    fault === undefined || !namesHook(file, scope) ? [] : [bad('settings', errorFault(fault.code, fault.args), repair)],
  )
  const readAlone = (scope: Scope): string | undefined =>
    host.hooksFiles === undefined || scope === 'local' ? undefined : hookHostSettingsPath(context, host, scope, project)
  const isRead = ({ file, scope }: SettingsLocation): boolean => [undefined, file].includes(readAlone(scope))
  const holding = locations.filter(({ commands }) => commands.length > 0)
  const read = holding.filter(isRead)
  const { offSwitch } = host
  // A file of Copilot CLI's hooks switches off no other (1.0.102).
  const on = read.filter((one) => wiring.hooksDisabledIn([one], offSwitch) === undefined)
  const wired = host.projectHooks !== undefined && on.some(({ kind }) => kind === 'own') ? on : read
  const wiredOwn = wired.filter(({ kind }) => kind === 'own')
  const off = wiredOwn.length === 0 ? undefined : switchedOffIn(host, project, locations, wiredOwn)
  const entries =
    off === undefined
      ? wiredOwn.flatMap((location) => [
          checkEntries(context, location, project, {
            ...host,
            ...(host.readsClaudeSettings === true && location.scope === 'project' && { entries: claudeEntries }),
            hostOption: ` --host ${name}${host.projectHooks === undefined ? '' : ' --force'}`,
          }),
          ...checkTrust(context, host, location),
        ])
      : [hooksDisabled(off, host.title, offSwitch)]
  const install = (scope: Scope): string =>
    `${commandLine(['install'], context.rootOption)} --host ${name} --scope ${scope}`
  const ignored = holding
    .filter((one) => !isRead(one))
    .map(({ file, scope }) => {
      const what = `${host.title} ignores the hook in ${file}, because it reads ${readAlone(scope)} instead`
      return bad('settings', what, install(scope))
    })
  // Entries that are only in Claude Code's settings are checked with those.
  if (entries.length === 0 || wired.length < 2) return [...faults, ...entries, ...ignored]
  const removals = wired.slice(1).map(({ scope }, index) => {
    const isShared = wired.slice(0, index + 1).some((one) => one.scope === scope)
    const line = isShared ? `${commandLine(['install'], context.rootOption)} --force` : wiring.uninstallLine(context)
    return `${line} --host ${name} --scope ${scope}`
  })
  const files = listed(wired.map(({ file }) => file))
  const several = `${host.title} runs the hook of each of ${files}, so a stop may count several times`
  return [...faults, ...entries, ...ignored, bad('settings', several, [...new Set(removals)].join(' && '))]
}

function switchedOffIn(host: HookHost, project: string, locations: wiring.Locations, wired: wiring.Locations) {
  const { offSwitch = '', projectHooks, projectSettings } = host
  const settings = projectSettings && path.join(project, projectSettings)
  if (settings && jsonObjectIn(textOf(settings, 'project'))[offSwitch] === true) return settings
  // Copilot CLI obeys Claude Code's settings too, but not the user's (1.0.102).
  const shared = wiring.hooksDisabledIn(locations.filter(({ kind }) => kind === 'claude'))
  return shared ?? wiring.hooksDisabledIn(projectHooks === undefined ? locations : wired, offSwitch)
}

/** In bytes. */
const CONFIGURATION_LIMIT = 4_194_304

function checkTrust(context: CommandContext, host: HookHost, { file, commands }: SettingsLocation): DoctorFinding[] {
  const record = host.trust?.record
  if (record === undefined) return []
  const folder = hookHostFolder(context, host)
  const recorded = textOf(path.join(folder, record.file), 'user')
  const events = commands.filter((hook) => !record.trusts(recorded, file, hook)).map(({ event }) => event)
  return events.length === 0 ? [] : [bad('settings', record.untrusted(file, events), record.advice)]
}

export function checkUnsupportedHosts(context: CommandContext, project: string): DoctorFinding[] {
  const locations = new Map<string, Scope>([[project, 'project']]).set(context.findHome(), 'user')
  return UNSUPPORTED_HOSTS.flatMap(({ title, folder, file, isInProjects, why }) =>
    [...locations]
      .filter(([, scope]) => isInProjects || scope === 'user')
      .map(([location, scope]) => ({ path: path.join(location, folder, file), scope }))
      .filter((one) => namesHook(one.path, one.scope))
      .map((one) => {
        const what = `${one.path} starts the hook, but ${title} is not supported: ${why}`
        return bad('settings', what, 'remove the entry from that file')
      }),
  )
}

function namesHook(file: string, scope: Scope): boolean {
  return textOf(file, scope).includes('postflight-hook')
}

/** People link their own settings from elsewhere. A link in a project may come with a clone. */
function textOf(file: string, scope: Scope): string {
  const read = readSmallFile(scope === 'user' ? realPathIfSeen(file) : file, CONFIGURATION_LIMIT)
  return read.kind === 'text' ? read.text : ''
}

/** OpenCode is optional: without an entry it reports nothing. */
export function checkOpenCode(context: CommandContext, project: string): DoctorFinding[] {
  const findings = HOST_SCOPES.flatMap((scope) => checkOpenCodeScope(context, scope, project))
  return findings.some(({ ok }) => ok) ? [...findings, checkPlugin(context)] : findings
}

function checkOpenCodeScope(context: CommandContext, scope: HostScope, project: string): DoctorFinding[] {
  const { plugin: expected, portable } = openCodePlugin(context, scope, project)
  // The project's own entry is never replaced by a path of this machine.
  const isTheirs = ({ plugin }: { plugin: string }): boolean =>
    scope === 'project' && !portable && /^\.\/(?:[^.].*\/)?node_modules\//.test(plugin)
  try {
    const files = openCodeConfigPaths(context, scope, project)
    const entries = files.flatMap((file) => pluginsIn(file, scope, project).map((plugin) => ({ file, plugin })))
    const [first] = entries
    if (first === undefined) return []
    const theirs = entries.find(isTheirs)
    if (theirs !== undefined && !fs.existsSync(path.resolve(project, theirs.plugin))) {
      const what = `${theirs.file} lists the project's own copy, which is not installed here`
      return [bad('plugin', what, installCommand(project))]
    }
    const install = `${commandLine(['install'], context.rootOption)} --host opencode --scope ${scope}`
    const fix = `${theirs === undefined ? '' : 'npx --no-install '}${install}`
    const strange = entries.find((one) => one.plugin !== expected && !isTheirs(one))
    const findings: DoctorFinding[] = []
    if (strange !== undefined) {
      findings.push(bad('plugin', `${strange.file} lists another copy: ${oneLine(strange.plugin, 200)}`, fix))
    }
    const holders = listed([...new Set(entries.map(({ file }) => file))])
    if (entries.length > 1) findings.push(bad('plugin', `the plugin is listed more than once, in ${holders}`, fix))
    return findings.length > 0 ? findings : [good('plugin', `the plugin is listed in ${first.file}`)]
  } catch (error) {
    if (!(error instanceof PostflightError)) throw error
    const fix = 'repair the file by hand: until then OpenCode may not start'
    return [bad('plugin', errorFault(error.code, error.args), fix)]
  }
}

function pluginsIn(file: string, scope: HostScope, project: string): string[] {
  if (scope === 'project') requireInside(file, project)
  const plugins = findPlugins(readSettingsFile(file) ?? '', file, ourPlugins(file))
  if (path.dirname(file) !== path.join(project, '.opencode')) return plugins
  return plugins.map((plugin) => plugin.replace(/^\.\.(?=\/(?:[^.].*\/)?node_modules\/)/, '.'))
}

/** Loads the plugin as OpenCode does: an ES module whose default export names it. */
function checkPlugin(context: CommandContext): DoctorFinding {
  const file = path.join(context.packageFolder, PLUGIN_FILE)
  const load = `import(${JSON.stringify(pathToFileURL(file).href)}).then((plugin) => console.log(plugin.default.id))`
  const { answer, detail } = runNode(process.execPath, context, ['--input-type=module', '--eval', load])
  if (answer === 'postflight-guard') return good('plugin', 'the plugin loads')
  return bad('plugin', `the plugin does not load (${detail})`, REBUILD)
}

function runNode(program: string, { packageFolder, environment }: CommandContext, words: string[], input = '') {
  const env = { ...environment, PATH: agentsPath(environment) }
  const options = { input, encoding: 'utf8', timeout: 10_000, cwd: packageFolder, env } as const
  const { status, stdout, stderr, error } = spawnSync(program, words, options)
  // Null if no process could be started.
  const detail = error?.message ?? /^\w*Error.*$/m.exec(stderr)?.[0] ?? stderr
  return { status, answer: stdout?.trim() ?? '', detail: oneLine(detail, 200) }
}

/** Reactive rules do not depend on the hook, so they do not show whether it works. */
export function checkReactive(context: CommandContext, project: string): DoctorFinding[] {
  const locations = wiring.settingsLocations(context, project)
  if (wiring.hooksDisabledIn(locations) !== undefined) return []
  return locations.flatMap(({ text, file }) => {
    const count = findCommands(text, { file }, isReactiveHook).length
    return count === 0 ? [] : [good('settings', `${counted(count, 'reactive rule')} in ${file}`)]
  })
}

export function checkShellHook(context: CommandContext, project: string): DoctorFinding[] {
  return wiring.shellHookLocations(context, project).map((location) => {
    const hook = `the hook "${quote(location.commands[0], 120)}" in ${location.file}`
    const what = `${hook} looks for the same markers, so one stop of a sub-agent counts twice`
    return bad('settings', what, wiring.removeCommand(context, location))
  })
}
