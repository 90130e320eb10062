import fs from 'node:fs'
import path from 'node:path'
import type { CommandForm } from '../kernel/command-line.ts'
import type { Environment } from '../kernel/values.ts'

/** Claude Code adds a plugin's `bin/` to the PATH of the agent's shell, but not of hooks (2.1.330). */
export function findCommandForm(environment: Environment, script: string, cwd: string): CommandForm {
  const names = process.platform === 'win32' ? ['postflight.cmd', 'postflight.exe'] : ['postflight']
  const folders = (environment.PATH ?? environment.Path ?? '').split(path.delimiter).filter((folder) => folder !== '')
  const plugin = environment.CLAUDE_PLUGIN_ROOT ?? ''
  if (plugin !== '') folders.push(path.join(plugin, 'bin'))
  const onPath = folders.some((folder) => names.some((name) => isExecutable(path.join(folder, name))))
  return { onPath, byNpx: !onPath && isInProjectOf(script, cwd), script }
}

function isInProjectOf(script: string, cwd: string): boolean {
  const modules = `${path.sep}node_modules${path.sep}`
  const [project = ''] = script.split(modules)
  if (project === script || !`${cwd}${path.sep}`.startsWith(`${project}${path.sep}`)) return false
  return isExecutable(
    project + modules + path.join('.bin', process.platform === 'win32' ? 'postflight.cmd' : 'postflight'),
  )
}

function isExecutable(file: string): boolean {
  try {
    const stats = fs.statSync(file, { throwIfNoEntry: false })
    return stats?.isFile() === true && (process.platform === 'win32' || (stats.mode & 0o111) !== 0)
  } catch {
    return false
  }
}
