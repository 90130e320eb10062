import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import fastGlob from 'fast-glob'
import { commandLine } from '../../core/commands.ts'
import { PostflightError } from '../../core/errors.ts'
import { MARKER_FILE, SPECS_FOLDER } from '../../core/files.ts'
import { errorFault, unsearchable } from '../../core/messages.ts'
import { findPlugins, PLUGIN_FILE } from '../../core/opencode-config.ts'
import { claudeEntries, findCommands, isInstalled } from '../../core/settings.ts'
import { inLine, oneLine, shellWord } from '../../core/text.ts'
import { formatAge } from '../../core/time.ts'
import { listTaskFolders } from '../../io/search.ts'
import {
  claudeSettingsPath,
  openCodeConfigPath,
  readSettingsFile,
  requireInside,
  SCOPES,
  type Scope,
} from '../../io/settings-file.ts'
import { type CommandContext, type CommandResult, findCommandRoot } from '../context.ts'
import { hookCommand, openCodePlugin, projectFolder } from '../host-entry.ts'
import { viewMarkers } from '../marker-view.ts'
import type { Painter } from '../report.ts'
import { runFindings } from '../workflow/run-findings.ts'

/** `postflight doctor`: is it wired, executable, current, reachable from here, and which markers will never be cleared. */

/** More stray markers than this are not listed. */
const MAX_STRAYS = 20

/** One finding; `ok` findings say what was looked at. */
interface Finding {
  readonly check: 'settings' | 'hook' | 'plugin' | 'root' | 'marker' | 'workflow'
  readonly ok: boolean
  readonly what: string
  readonly fix: string | null
}

export async function doctor(context: CommandContext, paint: Painter): Promise<CommandResult> {
  const root = findCommandRoot(context)
  const openCode = checkOpenCode(context)
  const findings = [
    ...checkSettings(context, openCode.length > 0),
    ...openCode,
    ...checkHook(context),
    checkRoot(context, root),
    ...(root === undefined
      ? []
      : [...checkMarkers(context, root), ...checkWorkflows(context, root), ...(await checkStrays(root))]),
  ]
  const wrong = findings.filter((finding) => !finding.ok)
  return {
    exitCode: wrong.length > 0 ? 1 : 0,
    data: { root: root ?? null, findings },
    lines: findings.flatMap(({ ok, what, fix }) => [
      `${ok ? paint.green('✓') : paint.red('✗')} ${inLine(what)}`,
      ...(fix === null ? [] : [`  → ${inLine(fix)}`]),
    ]),
  }
}

function good(check: Finding['check'], what: string): Finding {
  return { check, ok: true, what, fix: null }
}

function bad(check: Finding['check'], what: string, fix: string): Finding {
  return { check, ok: false, what, fix }
}

/** `elsewhere`: another host is wired, so that Claude Code need not be. */
function checkSettings(context: CommandContext, elsewhere: boolean): Finding[] {
  const project = projectFolder(context)
  const findings = SCOPES.flatMap((scope) => checkScope(context, scope, project))
  const wired = findings.filter((finding) => finding.ok).length
  const commands = new Set(SCOPES.map((scope) => hookCommand(context, scope, project).command))
  // Claude Code 2.1.329 runs the same command once, wherever it is listed.
  if (wired > 1 && commands.size > 1) {
    findings.push(
      bad(
        'settings',
        'wired in several settings files: the host runs the hook once for each',
        'uninstall all but one: postflight uninstall --scope …',
      ),
    )
  }
  if (findings.length > 0 || elsewhere) return findings
  return [bad('settings', 'not wired in any settings file of Claude Code', 'postflight install')]
}

/** Nothing where the plugin is in no configuration: not everybody uses OpenCode. */
function checkOpenCode(context: CommandContext): Finding[] {
  const project = projectFolder(context)
  const findings = (['project', 'user'] as const).flatMap((scope) => checkOpenCodeScope(context, scope, project))
  return findings.some(({ ok }) => ok) ? [...findings, checkPlugin(context)] : findings
}

function checkOpenCodeScope(context: CommandContext, scope: 'project' | 'user', project: string): Finding[] {
  const file = openCodeConfigPath(scope, project, context.findHome(), context.environment)
  try {
    if (scope === 'project') requireInside(file, project)
    const text = readSettingsFile(file)
    const plugins = text === undefined ? [] : findPlugins(text, file)
    if (plugins.length === 0) return []
    const { plugin } = openCodePlugin(context, scope, project)
    const strange = plugins.find((one) => one !== plugin)
    if (strange === undefined && plugins.length === 1) return [good('plugin', `the plugin is listed in ${file}`)]
    return [
      bad(
        'plugin',
        strange === undefined
          ? `${file} lists the plugin twice`
          : `${file} lists another copy: ${oneLine(strange, 200)}`,
        `postflight install --host opencode --scope ${scope}`,
      ),
    ]
  } catch (error) {
    if (!(error instanceof PostflightError)) throw error
    return [
      bad('plugin', errorFault(error.code, error.args), 'mend the file by hand: OpenCode does not start until then'),
    ]
  }
}

/** Loads the plugin as OpenCode does: an ES module whose default export names it. */
function checkPlugin({ packageFolder }: CommandContext): Finding {
  const file = path.join(packageFolder, PLUGIN_FILE)
  const load = `import(${JSON.stringify(pathToFileURL(file).href)}).then((plugin) => console.log(plugin.default.id))`
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', load], {
    encoding: 'utf8',
    timeout: 10_000,
    cwd: packageFolder,
  })
  if (run.stdout.trim() === 'postflight-guard') return good('plugin', 'the plugin loads')
  const detail = run.error?.message ?? /^\w*Error.*$/m.exec(run.stderr)?.[0] ?? run.stderr.trim()
  return bad(
    'plugin',
    `the plugin does not load (${oneLine(detail, 200)})`,
    'npm run build, or install the package again',
  )
}

function checkScope(context: CommandContext, scope: Scope, project: string): Finding[] {
  const file = claudeSettingsPath(scope, project, context.findHome(), context.environment)
  try {
    if (scope !== 'user') requireInside(file, project)
    const text = readSettingsFile(file)
    if (text === undefined) return []
    if (disablesHooks(text)) {
      return [bad('settings', `${file} sets disableAllHooks: no hook runs`, 'take disableAllHooks out of it')]
    }
    const commands = findCommands(text, file)
    if (commands.length === 0) return []
    const { command } = hookCommand(context, scope, project)
    if (isInstalled(text, claudeEntries(command), file)) return [good('settings', `wired in ${file}`)]
    const strange = commands.find((one) => !one.command.startsWith(command))
    return [
      bad(
        'settings',
        strange === undefined
          ? `${file} is wired in part only`
          : `${file} starts another copy: ${oneLine(strange.command, 200)}`,
        `postflight install --scope ${scope}`,
      ),
    ]
  } catch (error) {
    if (!(error instanceof PostflightError)) throw error
    return [
      bad(
        'settings',
        errorFault(error.code, error.args),
        'mend the file by hand: Claude Code ignores all of it until then',
      ),
    ]
  }
}

function disablesHooks(text: string): boolean {
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')).disableAllHooks === true
  } catch {
    return false
  }
}

function checkHook({ packageFolder, platform }: CommandContext): Finding[] {
  const bundle = path.join(packageFolder, 'dist', 'hook.js')
  const launcher = path.join(packageFolder, 'hooks', 'postflight-hook')
  if (!fs.existsSync(bundle))
    return [bad('hook', `${bundle} is missing`, 'npm run build, or install the package again')]
  const findings: Finding[] = []
  if (platform !== 'win32') {
    try {
      fs.accessSync(launcher, fs.constants.X_OK)
    } catch {
      findings.push(bad('hook', `${launcher} is not executable`, `chmod +x ${shellWord(launcher)}`))
    }
  }
  // The bundle itself: the launcher would hide that it is broken.
  const run = spawnSync(process.execPath, [bundle, '--root', packageFolder], {
    // An event of nobody's: a stop would be counted, here and wherever this environment leads the hook.
    input: '{"hook_event_name":"doctor"}',
    encoding: 'utf8',
    timeout: 10_000,
    cwd: packageFolder,
  })
  if (run.status === 0 && run.stdout.trim() !== '')
    findings.push(good('hook', `the hook answers: ${run.stdout.trim().slice(0, 80)}`))
  else
    findings.push(
      bad(
        'hook',
        `the hook does not answer (${run.error?.message ?? run.stderr.trim()})`,
        'see that `node` is on the PATH of your agent',
      ),
    )
  return findings
}

function checkRoot(context: CommandContext, root: string | undefined): Finding {
  return root === undefined
    ? good('root', `no ${SPECS_FOLDER}/ at or above ${context.cwd} yet: \`postflight create\` makes it`)
    : good('root', `root ${root}`)
}

function checkMarkers(context: CommandContext, root: string): Finding[] {
  const day = 24 * 3_600_000
  const { markers, problems } = viewMarkers(root, context.nowMs)
  const unsearched = problems.map((problem) =>
    bad('marker', unsearchable(problem.path, problem.detail), 'mend its rights, or move it away'),
  )
  // A workflow's is looked at with its run.
  const found = markers
    .filter((view) => view.run === null)
    .flatMap((view) => {
      const name = `${view.relative_path}`
      const clear = commandLine(['clear', view.task], undefined)
      const adopt = commandLine(['adopt', view.task], undefined)
      if (view.state === 'unreadable')
        return [bad('marker', `${name} ${view.problems.join(', ')}`, 'look at it and remove it by hand')]
      if (view.state === 'abandoned')
        return [bad('marker', `${name}: a postflight that was never done`, `${adopt}, or ${clear}`)]
      if (view.state === 'expired')
        return [bad('marker', `${name}: unowned and ${formatAge(view.age_ms ?? 0)} old, holds nobody`, clear)]
      if (view.state === 'pending' && view.continuations.spent === null)
        return [
          bad(
            'marker',
            `${name} ${view.problems.join(', ')}`,
            'mend or remove that by hand: until then it holds nobody',
          ),
        ]
      if (view.state === 'tracked') return [good('marker', `${name}: came with the repository, holds nobody`)]
      if (view.state === 'bypassed') return [good('marker', `${name}: goes at the next stop`)]
      if ((view.age_ms ?? 0) > day)
        return [bad('marker', `${name}: pending for ${formatAge(view.age_ms ?? 0)}`, `${adopt}, or ${clear}`)]
      return [good('marker', [`${name}: pending`, ...view.problems].join(', '))]
    })
  return [...unsearched, ...found]
}

function checkWorkflows(context: CommandContext, root: string): Finding[] {
  return runFindings(root, context.nowMs).map((finding) => ({ check: 'workflow', ...finding }))
}

/** Markers where the hook does not look: nobody would ever be held by them. */
async function checkStrays(root: string): Promise<Finding[]> {
  const searched = new Set(listTaskFolders(root).folders.map((folder) => path.join(folder.path, MARKER_FILE)))
  const found = await fastGlob(`**/${MARKER_FILE}`, {
    cwd: root,
    dot: true,
    absolute: true,
    followSymbolicLinks: false,
    suppressErrors: true,
    ignore: ['**/node_modules/**', '**/.git/**', '**/.claude/worktrees/**'],
    deep: 8,
  })
  return found
    .map((file) => path.normalize(file))
    .filter((file) => !searched.has(file))
    .slice(0, MAX_STRAYS)
    .map((file) =>
      bad(
        'marker',
        `${path.relative(root, file)} lies where the hook does not look`,
        `it belongs in ${SPECS_FOLDER}/NNN_slug/: move or remove it`,
      ),
    )
}
