import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { PostflightError } from '../../core/errors.ts'
import { errorFault } from '../../core/messages/errors.ts'
import { findPlugins, PLUGIN_FILE } from '../../core/settings/opencode-plugins.ts'
import { oneLine } from '../../core/text.ts'
import { openCodeConfigPaths, requireInside } from '../../io/settings/paths.ts'
import { readSettingsFile } from '../../io/settings/read.ts'
import type { CommandContext } from '../context.ts'
import { openCodePlugin, projectFolder } from '../host-entry.ts'
import { bad, type DoctorFinding, good } from './finding.ts'

/**
 * Is the plugin in OpenCode's configuration, and does it load? No finding where it is in none: OpenCode is optional.
 */
export function checkOpenCode(context: CommandContext): DoctorFinding[] {
  const project = projectFolder(context)
  const findings = (['project', 'user'] as const).flatMap((scope) => checkOpenCodeScope(context, scope, project))
  return findings.some(({ ok }) => ok) ? [...findings, checkPlugin(context)] : findings
}

function checkOpenCodeScope(context: CommandContext, scope: 'project' | 'user', project: string): DoctorFinding[] {
  const fix = `postflight install --host opencode --scope ${scope}`
  const { plugin: expected } = openCodePlugin(context, scope, project)
  try {
    const files = openCodeConfigPaths(scope, project, context.findHome(), context.environment)
    const listed = files.flatMap((file) => pluginsIn(file, scope, project).map((plugin) => ({ file, plugin })))
    const [first] = listed
    if (first === undefined) return []
    const strange = listed.find(({ plugin }) => plugin !== expected)
    const findings =
      strange === undefined
        ? []
        : [bad('plugin', `${strange.file} lists another copy: ${oneLine(strange.plugin, 200)}`, fix)]
    const holders = [...new Set(listed.map(({ file }) => file))]
    if (holders.length > 1) findings.push(bad('plugin', `the plugin is listed twice: in ${holders.join(' and ')}`, fix))
    else if (listed.length > 1) findings.push(bad('plugin', `${first.file} lists the plugin twice`, fix))
    return findings.length > 0 ? findings : [good('plugin', `the plugin is listed in ${first.file}`)]
  } catch (error) {
    if (!(error instanceof PostflightError)) throw error
    return [
      bad('plugin', errorFault(error.code, error.args), 'mend the file by hand: OpenCode does not start until then'),
    ]
  }
}

/** The entries of ours in a configuration file. */
function pluginsIn(file: string, scope: 'project' | 'user', project: string): string[] {
  if (scope === 'project') requireInside(file, project)
  const text = readSettingsFile(file)
  return text === undefined ? [] : findPlugins(text, file)
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
  if (run.stdout.trim() === 'postflight-guard') return good('plugin', 'the plugin loads')
  const detail = run.error?.message ?? /^\w*Error.*$/m.exec(run.stderr)?.[0] ?? run.stderr.trim()
  return bad(
    'plugin',
    `the plugin does not load (${oneLine(detail, 200)})`,
    'npm run build, or install the package again',
  )
}
