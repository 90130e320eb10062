import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { guardedCommand, guardedNodeCommand } from '../../hosts/hook-entries.ts'
import { type CommandContext, findCommandRepository, findCommandRoot, startOf } from '../../project/command-context.ts'
import { PLUGIN_FILE } from '../opencode-plugins.ts'
import type { Scope } from '../settings-paths.ts'
import { dependencyIn } from './dependency.ts'

/** `install` writes these entries and `doctor` expects them. */

export function projectFolder(context: CommandContext): string {
  const start = startOf(context)
  return findCommandRoot(context) ?? (start.explicit ? undefined : findCommandRepository(start.path)) ?? start.path
}

/** Never npx, which would resolve the package at every stop. */
export function hookCommand(
  { packageFolder, platform }: CommandContext,
  scope: Scope,
  project: string,
  { tellsProject }: { readonly tellsProject: boolean } = { tellsProject: true },
): { command: string; portable: boolean } {
  const dependency = scope === 'user' || !tellsProject ? undefined : dependencyIn(project, packageFolder)
  const portable = dependency !== undefined
  const isWindows = platform === 'win32'
  const name = isWindows ? 'dist/hook.js' : 'hooks/postflight-hook'
  const location = portable ? `$CLAUDE_PROJECT_DIR/${dependency}/${name}` : path.join(packageFolder, name)
  const file = doubleQuoted(location, portable)
  return { command: isWindows ? guardedNodeCommand(file) : guardedCommand(file), portable }
}

/** Never the package's name, which OpenCode would fetch from a registry. */
export function openCodePlugin(
  { packageFolder }: CommandContext,
  scope: Scope,
  project: string,
): { plugin: string; portable: boolean } {
  const dependency = scope === 'user' ? undefined : dependencyIn(project, packageFolder)
  const plugin =
    dependency === undefined
      ? pathToFileURL(path.join(packageFolder, PLUGIN_FILE)).href
      : `./${dependency}/${PLUGIN_FILE}`
  return { plugin, portable: dependency !== undefined }
}

/** Keeps spaces, and still expands our own `$CLAUDE_PROJECT_DIR`. */
function doubleQuoted(location: string, portable: boolean): string {
  const escaped = portable
    ? location.replace(/["`\\]/g, '\\$&')
    : location
        .split(path.sep)
        .join('/')
        .replace(/["`$\\]/g, '\\$&')
  return `"${escaped}"`
}
