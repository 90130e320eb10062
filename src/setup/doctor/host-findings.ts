import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { realPath } from '../../disk/file-facts.ts'
import { readSmallFile } from '../../disk/read.ts'
import type { HookHost } from '../../hosts/hook-entries.ts'
import { HOOK_HOSTS, UNSUPPORTED_HOSTS } from '../../hosts/hook-hosts.ts'
import { commandLine } from '../../kernel/command-line.ts'
import { errorFault } from '../../kernel/error-messages.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { oneLine, shellWord } from '../../kernel/text.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { findEntries, findLocations } from '../claude-hooks.ts'
import { openCodePlugin, ourHooks, ourPlugins, projectFolder } from '../install/our-hooks.ts'
import {
  hookHostLocations,
  hooksDisabledIn,
  removeCommand,
  type SettingsLocation,
  settingsLocations,
  shellHookLocations,
  uninstallLine,
} from '../install/wiring.ts'
import { findPlugins, PLUGIN_FILE } from '../opencode-plugins.ts'
import { isReactiveHook } from '../reactive/reactive-rule.ts'
import {
  HOST_SCOPES,
  hookHostFolder,
  openCodeConfigPaths,
  readSettingsFile,
  requireInside,
  type Scope,
} from '../settings-paths.ts'
import { checkEntries, installCommand } from './claude-findings.ts'
import { HOOK_FINDINGS, HOST_FINDINGS, PLUGIN_FINDINGS } from './doctor-messages.ts'
import { bad, type DoctorFinding, good } from './project-findings.ts'

export function checkHook({ packageFolder, platform }: CommandContext): DoctorFinding[] {
  const bundle = path.join(packageFolder, 'dist', 'hook.js')
  const launcher = path.join(packageFolder, 'hooks', 'postflight-hook')
  if (!fs.existsSync(bundle)) return [bad('hook', HOOK_FINDINGS.missing(bundle), HOOK_FINDINGS.rebuild)]
  const findings: DoctorFinding[] = []
  if (platform !== 'win32') {
    try {
      fs.accessSync(launcher, fs.constants.X_OK)
    } catch {
      findings.push(bad('hook', HOOK_FINDINGS.notExecutable(launcher), `chmod +x ${shellWord(launcher)}`))
    }
  }
  // Starts the bundle itself, because the launcher hides a broken one.
  const run = spawnSync(process.execPath, [bundle, '--root', packageFolder], {
    // Not a stop, which would be counted in every root that this environment leads to.
    input: '{"hook_event_name":"doctor"}',
    encoding: 'utf8',
    timeout: 10_000,
    cwd: packageFolder,
  })
  // Null if no process could be started.
  const answer = run.stdout?.trim() ?? ''
  const isAnswer = run.status === 0 && answer !== ''
  findings.push(
    isAnswer
      ? good('hook', HOOK_FINDINGS.answers(answer.slice(0, 80)))
      : bad('hook', HOOK_FINDINGS.noAnswer(run.error?.message ?? run.stderr.trim()), HOOK_FINDINGS.checkNode),
  )
  return findings
}

export function checkHookHosts(context: CommandContext): DoctorFinding[] {
  const project = projectFolder(context)
  const hosts: [string, HookHost][] = Object.entries(HOOK_HOSTS)
  return hosts.flatMap(([name, host]) => checkHost(context, name, host, project))
}

function checkHost(context: CommandContext, name: string, host: HookHost, project: string): DoctorFinding[] {
  const locations = hookHostLocations(context, host, project)
  const own = locations.filter((location) => !location.isClaudes)
  // A file without the hook is not checked: some hosts allow comments in theirs.
  const faults = own.flatMap(({ fault, file, scope }) =>
    fault === undefined || !namesHook(file, scope)
      ? []
      : [bad('settings', errorFault(fault.code, fault.args), HOST_FINDINGS.repair(host.title))],
  )
  const wired = locations.filter(({ commands }) => commands.length > 0)
  const wiredOwn = own.filter((location) => wired.includes(location))
  const off = host.canDisableHooks === true && wiredOwn.length > 0 ? hooksDisabledIn(own) : undefined
  const entries =
    off === undefined
      ? wiredOwn.flatMap((location) => [
          checkEntries(context, location, project, { ...host, hostOption: ` --host ${name}` }),
          ...checkTrust(context, host, location),
        ])
      : [bad('settings', HOOK_FINDINGS.hooksDisabled(off), HOOK_FINDINGS.enableHooks)]
  // Entries that are only in Claude Code's settings are checked with those.
  if (entries.length === 0 || wired.length === 1) return [...faults, ...entries]
  const removals = wired
    .slice(1)
    .map(({ scope }) => `${uninstallLine(context)} --host ${name} --scope ${scope}`)
    .join(' && ')
  const files = wired.map(({ file }) => file)
  return [...faults, ...entries, bad('settings', HOST_FINDINGS.installedTwice(host.title, files), removals)]
}

/** In bytes. */
const CONFIGURATION_LIMIT = 4_194_304

function checkTrust(context: CommandContext, host: HookHost, { file, text = '' }: SettingsLocation): DoctorFinding[] {
  const record = host.trust?.record
  if (record === undefined) return []
  const folder = hookHostFolder(context, host)
  const recorded = textOf(path.join(folder, record.file), 'user')
  const events = findLocations(text, file, ourHooks(context, projectFolder(context)))
    .filter((hook) => !record.trusts(recorded, file, hook))
    .map(({ event }) => event)
  return events.length === 0 ? [] : [bad('settings', record.untrusted(file, events), record.advice)]
}

export function checkUnsupportedHosts(context: CommandContext): DoctorFinding[] {
  const project = projectFolder(context)
  return UNSUPPORTED_HOSTS.flatMap(({ title, folder, file, isInProjects, why }) => {
    const inProject = isInProjects ? ([[project, 'project']] as const) : []
    return [...new Map<string, Scope>([...inProject, [context.findHome(), 'user']])]
      .map(([location, scope]) => ({ path: path.join(location, folder, file), scope }))
      .filter((one) => namesHook(one.path, one.scope))
      .map((one) => bad('settings', HOST_FINDINGS.unsupported(one.path, title, why), HOST_FINDINGS.removeEntry))
  })
}

function namesHook(file: string, scope: Scope): boolean {
  return textOf(file, scope).includes('postflight-hook')
}

/** People link their own settings from elsewhere. A link in a project may come with a clone. */
function textOf(file: string, scope: Scope): string {
  try {
    const read = readSmallFile(scope === 'user' ? realPath(file) : file, CONFIGURATION_LIMIT)
    return read.kind === 'text' ? read.text : ''
  } catch {
    return ''
  }
}

/** OpenCode is optional: without an entry it reports nothing. */
export function checkOpenCode(context: CommandContext): DoctorFinding[] {
  const project = projectFolder(context)
  const findings = HOST_SCOPES.flatMap((scope) => checkOpenCodeScope(context, scope, project))
  return findings.some(({ ok }) => ok) ? [...findings, checkPlugin(context)] : findings
}

function checkOpenCodeScope(context: CommandContext, scope: 'project' | 'user', project: string): DoctorFinding[] {
  const { plugin: expected } = openCodePlugin(context, scope, project)
  // The project's own entry is never replaced by a path of this machine.
  const isTheirs = ({ plugin }: { plugin: string }): boolean =>
    scope === 'project' && plugin !== expected && plugin.startsWith('./node_modules/')
  try {
    const files = openCodeConfigPaths(context, scope, project)
    const listed = files.flatMap((file) => pluginsIn(file, scope, project).map((plugin) => ({ file, plugin })))
    const [first] = listed
    if (first === undefined) return []
    const theirs = listed.find(isTheirs)
    if (theirs !== undefined && !fs.existsSync(path.resolve(path.dirname(theirs.file), theirs.plugin))) {
      return [bad('plugin', PLUGIN_FINDINGS.ownCopyMissing(theirs.file), installCommand(project))]
    }
    const install = `${commandLine(['install'], context.rootOption)} --host opencode --scope ${scope}`
    const fix = `${theirs === undefined ? '' : 'npx --no-install '}${install}`
    const strange = listed.find((one) => one.plugin !== expected && !isTheirs(one))
    const findings =
      strange === undefined
        ? []
        : [bad('plugin', PLUGIN_FINDINGS.anotherCopy(strange.file, oneLine(strange.plugin, 200)), fix)]
    const holders = [...new Set(listed.map(({ file }) => file))]
    if (holders.length > 1) findings.push(bad('plugin', PLUGIN_FINDINGS.inSeveralFiles(holders), fix))
    else if (listed.length > 1) findings.push(bad('plugin', PLUGIN_FINDINGS.listedTwice(first.file), fix))
    return findings.length > 0 ? findings : [good('plugin', PLUGIN_FINDINGS.listed(first.file))]
  } catch (error) {
    if (!(error instanceof PostflightError)) throw error
    return [bad('plugin', errorFault(error.code, error.args), PLUGIN_FINDINGS.repairConfiguration)]
  }
}

function pluginsIn(file: string, scope: 'project' | 'user', project: string): string[] {
  if (scope === 'project') requireInside(file, project)
  const text = readSettingsFile(file)
  return text === undefined ? [] : findPlugins(text, file, ourPlugins(file))
}

/** Loads the plugin as OpenCode does: an ES module whose default export names it. */
function checkPlugin({ packageFolder }: CommandContext): DoctorFinding {
  const file = path.join(packageFolder, PLUGIN_FILE)
  const load = `import(${JSON.stringify(pathToFileURL(file).href)}).then((plugin) => console.log(plugin.default.id))`
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', load], {
    encoding: 'utf8',
    timeout: 10_000,
    cwd: packageFolder,
  })
  if (run.stdout?.trim() === 'postflight-guard') return good('plugin', PLUGIN_FINDINGS.loads)
  const detail = run.error?.message ?? /^\w*Error.*$/m.exec(run.stderr)?.[0] ?? run.stderr.trim()
  return bad('plugin', PLUGIN_FINDINGS.doesNotLoad(oneLine(detail, 200)), PLUGIN_FINDINGS.rebuild)
}

/**
 * Lists the reactive rules in Claude Code's settings. They do not depend on the hook, so they do not show whether it
 * works.
 */
export function checkReactive(context: CommandContext): DoctorFinding[] {
  const locations = settingsLocations(context, projectFolder(context))
  if (hooksDisabledIn(locations) !== undefined) return []
  return locations.flatMap(({ text, file, fault }) => {
    if (text === undefined || fault !== undefined) return []
    const count = findEntries(text, file, isReactiveHook).length
    return count === 0 ? [] : [good('settings', HOOK_FINDINGS.reactive(count, file))]
  })
}

export function checkShellHook(context: CommandContext): DoctorFinding[] {
  return shellHookLocations(context, projectFolder(context)).map((location) =>
    bad('settings', HOOK_FINDINGS.shellHook(location.commands[0], location.file), removeCommand(context, location)),
  )
}
