import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { errorFault } from '../../kernel/error-messages.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { oneLine } from '../../kernel/text.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { openCodePlugin, projectFolder } from '../install/host-entry.ts'
import { ourPlugins } from '../install/our-hooks.ts'
import { findPlugins, PLUGIN_FILE } from '../opencode-plugins.ts'
import { openCodeConfigPaths, requireInside } from '../settings-paths.ts'
import { readSettingsFile } from '../settings-read.ts'
import { PLUGIN_FINDINGS } from './doctor-messages.ts'
import { bad, type DoctorFinding, good } from './finding.ts'

/** Checks that the plugin loads and is listed once. OpenCode is optional: without an entry it reports nothing. */
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

/** Our entries in a configuration file. */
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
  if (run.stdout.trim() === 'postflight-guard') return good('plugin', PLUGIN_FINDINGS.loads)
  const detail = run.error?.message ?? /^\w*Error.*$/m.exec(run.stderr)?.[0] ?? run.stderr.trim()
  return bad('plugin', PLUGIN_FINDINGS.doesNotLoad(oneLine(detail, 200)), PLUGIN_FINDINGS.rebuild)
}
