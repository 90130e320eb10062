import fs from 'node:fs'
import path from 'node:path'
import type { CommandForm } from '../../core/command-line.ts'
import type { Environment } from '../../core/hosts/host.ts'

/**
 * The ways to start the CLI in the agent's shell: `script` is its file, and the PATH is searched for `postflight`. Claude Code
 * adds `bin/` of a plugin to the PATH of that shell, but not to the PATH of the plugin's hooks (measured with 2.1.330).
 */
export function findCommandForm(environment: Environment, script: string): CommandForm {
  const names = process.platform === 'win32' ? ['postflight.cmd', 'postflight.exe'] : ['postflight']
  const folders = (environment.PATH ?? environment.Path ?? '').split(path.delimiter).filter((folder) => folder !== '')
  const plugin = environment.CLAUDE_PLUGIN_ROOT ?? ''
  if (plugin !== '') folders.push(path.join(plugin, 'bin'))
  const onPath = folders.some((folder) => names.some((name) => isExecutable(path.join(folder, name))))
  return { onPath, script }
}

function isExecutable(file: string): boolean {
  try {
    const stats = fs.statSync(file, { throwIfNoEntry: false })
    return stats?.isFile() === true && (process.platform === 'win32' || (stats.mode & 0o111) !== 0)
  } catch {
    return false
  }
}
