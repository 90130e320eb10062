import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { realPath, realPathIfSeen } from '../../disk/file-facts.ts'
import { textIn } from '../../disk/read.ts'
import { guardedCommand, guardedNodeCommand, isGuardedCommand, programOf } from '../../hosts/hook-entries.ts'
import { inLine } from '../../kernel/text.ts'
import { attempt, isJsonObject, jsonObjectIn } from '../../kernel/values.ts'
import { type CommandContext, findCommandRepository } from '../../project/command-context.ts'
import { commandOf, isOurHook } from '../claude-hooks.ts'
import type { IsOurs } from '../list-editor.ts'
import { isOurPlugin, PLUGIN_FILE, specOf } from '../opencode-plugins.ts'
import { leadsOut, type Scope } from '../settings-paths.ts'

const DEPENDENCY_FOLDER = 'node_modules/postflight-guard'

/**
 * Package managers link the package from a store, whose paths hold its version, so the link counts: in the project, or in a
 * workspace. `npm link` does not: it leads out of `node_modules`, and no `package.json` names it.
 */
function dependencyIn(project: string, packageFolder: string): string | undefined {
  const folder = realPath(packageFolder)
  const relative = path.relative(realPath(project), folder).split(path.sep).join('/')
  const isInside = relative.startsWith('node_modules/')
  const isLink = (link: string): boolean => realPathIfSeen(path.join(project, link)) === folder
  if (isLink(DEPENDENCY_FOLDER) && (isInside || specifierIn(project) !== undefined)) return DEPENDENCY_FOLDER
  return isInside ? (workspaceLinks(project).find(isLink) ?? relative) : undefined
}

/** Of workspaces that are at most two levels deep. */
function workspaceLinks(project: string): string[] {
  const below = (folder: string): string[] =>
    attempt(() => fs.readdirSync(path.join(project, folder)).toSorted(), [])
      .filter((name) => !name.startsWith('.') && name !== 'node_modules')
      .map((name) => `${folder}${name}/`)
  const folders = below('')
  return [...folders, ...folders.flatMap(below)].map((folder) => `${folder}${DEPENDENCY_FOLDER}`)
}

/** Outside of the repository, a clone or CI lacks the file, so installing the packages fails there. */
export function dependencyOutside(project: string): string | undefined {
  const specifier = specifierIn(project)
  const named = /^(?:(?:file|link|portal):)?((?:\.{1,2}|~)?\/.*|\.{1,2})$/.exec(specifier ?? '')?.[1]
  if (named === undefined) return undefined
  const leadsInside =
    !named.startsWith('~') && !leadsOut(findCommandRepository(project) ?? project, path.resolve(project, named))
  return leadsInside ? undefined : specifier
}

function specifierIn(project: string): string | undefined {
  const manifest = readManifest(path.join(project, 'package.json'))
  const specifiers = ['dependencies', 'devDependencies', 'optionalDependencies'].map((list) => {
    const names = manifest[list]
    return isJsonObject(names) && Object.hasOwn(names, 'postflight-guard') ? names['postflight-guard'] : undefined
  })
  return specifiers.find((specifier) => typeof specifier === 'string')
}

function isOurPackage(folder: string): boolean {
  const manifests = ['package.json', '.claude-plugin/plugin.json']
  return manifests.some((file) => readManifest(path.join(folder, file)).name === 'postflight-guard')
}

export function readManifest(file: string): Record<string, unknown> {
  return jsonObjectIn(textIn(file) ?? '')
}

export function ourHooks(context: CommandContext, project: string): IsOurs {
  return (hook) => isOurHook(hook) && startsOurPackage(context, project, commandOf(hook) as string)
}

function startsOurPackage(context: CommandContext, project: string, command: string): boolean {
  const program = programOf(command) ?? ''
  const file = realFile(/[/\\]/.test(program) ? expanded(context, project, program) : onPath(context, project, program))
  // The copy was removed: only `install` writes such a command, or the path itself names our package.
  if (file === undefined) return isGuardedCommand(command) || IN_OUR_FOLDER.test(program)
  const folder = path.dirname(file)
  return (
    isOurPackage(path.dirname(folder)) ||
    (IN_BIN.test(folder) && isOurPackage(path.join(folder, '..', 'postflight-guard')))
  )
}

/** Package managers put scripts there for programs (pnpm, Windows). */
const IN_BIN = /[/\\]node_modules[/\\]\.bin$/

export function ourPlugins(settings: string): IsOurs {
  return (entry) => {
    if (!isOurPlugin(entry)) return false
    const spec = String(specOf(entry))
    // A spec without a slash is the name of the package.
    if (!/[/\\]/.test(spec)) return true
    const file = realFile(
      path.resolve(path.dirname(settings), spec.startsWith('file:') ? attempt(() => fileURLToPath(spec), spec) : spec),
    )
    // The copy was moved or removed: only `install` writes a URL of its file.
    if (file === undefined) return spec.startsWith('file:') || IN_OUR_FOLDER.test(spec)
    return isOurPackage(path.join(file, '..', '..', '..'))
  }
}

const IN_OUR_FOLDER = /(?:^|[/\\])postflight-guard(?:@[^/\\]*)?[/\\]/

export function expanded({ findHome }: CommandContext, project: string, program: string): string {
  const named = program
    .replace(/^\$(?:CLAUDE_PROJECT_DIR\b|\{CLAUDE_PROJECT_DIR\})/, () => project)
    .replace(/^(?:~(?=[/\\])|\$(?:HOME\b|\{HOME\}))/, () => findHome())
  return path.resolve(project, named)
}

/** npx looks into the project's packages too. */
function onPath({ environment, platform }: CommandContext, project: string, name: string): string | undefined {
  const endings = platform === 'win32' ? ['', '.cmd', '.exe'] : ['']
  const folders = (environment.PATH ?? environment.Path ?? '').split(path.delimiter)
  const searched = [...folders, path.join(project, 'node_modules', '.bin')].filter((folder) => folder !== '')
  const files = searched.flatMap((folder) => endings.map((ending) => path.join(folder, name + ending)))
  return files.find((file) => realFile(file) !== undefined)
}

function realFile(file: string | undefined): string | undefined {
  return file !== undefined && attempt(() => fs.statSync(file).isFile()) ? realPathIfSeen(file) : undefined
}

/** `install` writes it, and `doctor` expects it. Never npx, which would resolve the package at every stop. */
export function hookCommand(
  { packageFolder, platform }: CommandContext,
  scope: Scope,
  project: string,
  { tellsProject }: { readonly tellsProject: boolean } = { tellsProject: true },
): { command: string; portable: boolean } {
  const dependency = scope === 'user' ? undefined : dependencyIn(project, packageFolder)
  const portable = dependency !== undefined && tellsProject
  const isWindows = platform === 'win32'
  const folder = dependency === undefined ? packageFolder : path.join(portable ? '' : realPath(project), dependency)
  const name = isWindows ? 'dist/hook.js' : 'hooks/postflight-hook'
  const location = path.join(folder, name).split(path.sep).join('/')
  const file = `"${portable ? '$CLAUDE_PROJECT_DIR/' : ''}${location.replace(/["`$\\]/g, '\\$&')}"`
  return { command: isWindows ? guardedNodeCommand(file) : guardedCommand(file), portable }
}

/** Where npx, bunx, `pnpm dlx` and `yarn dlx` put a package. */
const IN_CACHE = /[/\\](?:_npx|pnpm[/\\]dlx|\.?bunx-[^/\\]+|dlx-[^/\\]+)[/\\]/

export function cacheWarning({ packageFolder }: Pick<CommandContext, 'packageFolder'>): string | undefined {
  if (!IN_CACHE.test(packageFolder)) return undefined
  return `Warning: the entry names ${inLine(packageFolder)}, a cache that will be emptied: after that, no stop is blocked, and no error says so. Install a copy that stays, then run this command again: \`npm install --save-dev postflight-guard\``
}

/** Never the package's name, which OpenCode would fetch from a registry. */
export function openCodePlugin({ packageFolder }: CommandContext, scope: Scope, project: string) {
  const dependency = scope === 'user' ? undefined : dependencyIn(project, packageFolder)
  const plugin =
    dependency === undefined
      ? pathToFileURL(path.join(packageFolder, PLUGIN_FILE)).href
      : `./${dependency}/${PLUGIN_FILE}`
  return { plugin, portable: dependency !== undefined }
}
