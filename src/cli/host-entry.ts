import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { PLUGIN_FILE } from '../core/settings/opencode-plugins.ts'
import { realPath } from '../io/fs/path-kind.ts'
import type { Scope } from '../io/settings/paths.ts'
import { type CommandContext, findCommandRepository, findCommandRoot, startOf } from './context.ts'

/** What stands in a host's settings for this package, wherever it lies: what `install` writes and `doctor` expects. */

/** The project whose settings are meant: the root, else the repository, else the current folder. */
export function projectFolder(context: CommandContext): string {
  const start = startOf(context)
  return findCommandRoot(context) ?? (start.explicit ? undefined : findCommandRepository(start.path)) ?? start.path
}

/**
 * The command a host starts. In the project's own node_modules it is found from the project's folder; elsewhere by its
 * full path. Never through npx, which would be resolved anew at every stop.
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
  // On Windows the last word does nothing but tell that the entry is ours, whatever the folder is called.
  return { command: program === undefined ? quoted : `${program} ${quoted} postflight-hook`, portable }
}

/**
 * How OpenCode is told where the plugin lies: its file, relative to the configuration where the project holds it.
 * Never the package's name, which OpenCode would fetch from a registry.
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

/** Where this package lies, seen from the project. */
function insideProject(project: string, packageFolder: string): string {
  return path.relative(realPath(project), realPath(packageFolder)).split(path.sep).join('/')
}

/** In double quotes for the shell: spaces stay together, and `$CLAUDE_PROJECT_DIR` is filled in where we put it. */
function doubleQuoted(location: string, portable: boolean): string {
  const escaped = portable
    ? location.replace(/["`\\]/g, '\\$&')
    : location
        .split(path.sep)
        .join('/')
        .replace(/["`$\\]/g, '\\$&')
  return `"${escaped}"`
}
