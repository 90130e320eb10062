import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { PLUGIN_FILE } from '../core/settings/opencode-plugins.ts'
import { realPath } from '../io/fs/path-kind.ts'
import type { Scope } from '../io/settings/paths.ts'
import { type CommandContext, findCommandRepository, findCommandRoot, startOf } from './context.ts'

/** The entries for this package in a host's settings: `install` writes them and `doctor` expects them. */

/** The project whose settings are changed: the root, or the repository, or the current folder. */
export function projectFolder(context: CommandContext): string {
  const start = startOf(context)
  return findCommandRoot(context) ?? (start.explicit ? undefined : findCommandRepository(start.path)) ?? start.path
}

/**
 * The command that a host starts. Its path is relative to the project if the package is in the project's node_modules,
 * and absolute otherwise. It is never npx, which would resolve the package at every stop.
 */
export function hookCommand(
  context: CommandContext,
  scope: Scope,
  project: string,
): { command: string; portable: boolean } {
  const { packageFolder, platform } = context
  const words = platform === 'win32' ? ['node', 'dist/hook.js'] : [undefined, 'hooks/postflight-hook']
  const [program, file] = words
  const inProject = insideProject(project, packageFolder)
  const portable = scope !== 'user' && inProject.startsWith('node_modules/')
  const location = portable ? `$CLAUDE_PROJECT_DIR/${inProject}/${file}` : path.join(packageFolder, file as string)
  const quoted = doubleQuoted(location, portable)
  // On Windows the last word only marks the entry as ours, whatever the folder's name is.
  return { command: program === undefined ? quoted : `${program} ${quoted} postflight-hook`, portable }
}

/**
 * The plugin's entry in OpenCode's configuration: its file, relative to the configuration if the package is in the
 * project's node_modules. It is never the package's name, which OpenCode would fetch from a registry.
 */
export function openCodePlugin(
  { packageFolder }: CommandContext,
  scope: Scope,
  project: string,
): { plugin: string; portable: boolean } {
  const inProject = insideProject(project, packageFolder)
  const portable = scope !== 'user' && inProject.startsWith('node_modules/')
  const location = portable
    ? `./${inProject}/${PLUGIN_FILE}`
    : pathToFileURL(path.join(packageFolder, PLUGIN_FILE)).href
  return { plugin: location, portable }
}

/** The path of this package, relative to the project. */
function insideProject(project: string, packageFolder: string): string {
  return path.relative(realPath(project), realPath(packageFolder)).split(path.sep).join('/')
}

/** Quotes a path for the shell, so that spaces are kept and our own `$CLAUDE_PROJECT_DIR` is still expanded. */
function doubleQuoted(location: string, portable: boolean): string {
  const escaped = portable
    ? location.replace(/["`\\]/g, '\\$&')
    : location
        .split(path.sep)
        .join('/')
        .replace(/["`$\\]/g, '\\$&')
  return `"${escaped}"`
}
