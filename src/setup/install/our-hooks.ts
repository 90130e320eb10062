import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { isGuardedCommand, programOf } from '../../hosts/hook-entries.ts'
import type { CommandContext } from '../../project/command-context.ts'
import { type IsOurs, isOurHook } from '../claude-hooks.ts'
import { type IsOurs as IsOurPlugin, isOurPlugin, specOf } from '../opencode-plugins.ts'
import { isOurPackage } from './dependency.ts'

export function ourHooks(context: CommandContext, project: string): IsOurs {
  return (hook) => isOurHook(hook) && startsOurPackage(context, project, hook.command)
}

function startsOurPackage(context: CommandContext, project: string, command: string): boolean {
  const program = programOf(command) ?? ''
  const file = realFile(/[/\\]/.test(program) ? expanded(context, project, program) : onPath(context, program))
  // A copy that is gone: only `install` writes such a command, or the path itself names our package.
  if (file === undefined) return isGuardedCommand(command) || IN_OUR_FOLDER.test(program)
  const folder = path.dirname(file)
  return (
    isOurPackage(path.dirname(folder)) ||
    (IN_BIN.test(folder) && isOurPackage(path.join(folder, '..', 'postflight-guard')))
  )
}

/** Package managers put scripts there for programs (pnpm, Windows). */
const IN_BIN = /[/\\]node_modules[/\\]\.bin$/

export function ourPlugins(configuration: string): IsOurPlugin {
  return (entry) => {
    if (!isOurPlugin(entry)) return false
    const spec = String(specOf(entry))
    // The name of the package.
    if (!/[/\\]/.test(spec)) return true
    const file = realFile(path.resolve(path.dirname(configuration), pathOf(spec)))
    return file === undefined ? IN_OUR_FOLDER.test(spec) : isOurPackage(path.join(file, '..', '..', '..'))
  }
}

function pathOf(spec: string): string {
  try {
    return spec.startsWith('file:') ? fileURLToPath(spec) : spec
  } catch {
    return spec
  }
}

const IN_OUR_FOLDER = /(?:^|[/\\])postflight-guard(?:@[^/\\]*)?[/\\]/

export function expanded({ findHome }: CommandContext, project: string, program: string): string {
  const named = program
    .replace(/^\$(?:CLAUDE_PROJECT_DIR\b|\{CLAUDE_PROJECT_DIR\})/, () => project)
    .replace(/^(?:~(?=[/\\])|\$(?:HOME\b|\{HOME\}))/, () => findHome())
  return path.resolve(project, named)
}

function onPath({ environment, platform }: CommandContext, name: string): string | undefined {
  const endings = platform === 'win32' ? ['', '.cmd', '.exe'] : ['']
  return (environment.PATH ?? environment.Path ?? '')
    .split(path.delimiter)
    .filter((folder) => folder !== '')
    .flatMap((folder) => endings.map((ending) => path.join(folder, name + ending)))
    .find((file) => realFile(file) !== undefined)
}

function realFile(file: string | undefined): string | undefined {
  try {
    return file !== undefined && fs.statSync(file).isFile() ? fs.realpathSync(file) : undefined
  } catch {
    return undefined
  }
}
