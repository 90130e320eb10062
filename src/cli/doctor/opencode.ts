import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { PostflightError } from '../../core/errors.ts'
import { errorFault } from '../../core/messages.ts'
import { findPlugins, PLUGIN_FILE } from '../../core/opencode-config.ts'
import { oneLine } from '../../core/text.ts'
import { openCodeConfigPath, readSettingsFile, requireInside } from '../../io/settings-file.ts'
import type { CommandContext } from '../context.ts'
import { openCodePlugin, projectFolder } from '../host-entry.ts'
import { bad, type Finding, good } from './finding.ts'

/**
 * Is the plugin in OpenCode's configuration, and does it load? Nothing where it is in none: not everybody uses OpenCode.
 */
export function checkOpenCode(context: CommandContext): Finding[] {
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
