import fs from 'node:fs'
import path from 'node:path'
import { errorCode, isAbsent, kindAt, kindIfSeen, pathIn, realPathIfSeen } from '../disk/file-facts.ts'
import { textIn } from '../disk/read.ts'
import type { CommandForm } from '../kernel/command-line.ts'
import { SPECS_FOLDER } from '../kernel/files.ts'
import { attempt, type Environment, succeeds, variable } from '../kernel/values.ts'
import type { SearchProblem } from './task-folder.ts'

/** The one resolver (docs/design.md, "Roots"). `hooks/postflight-hook` does the same; a test compares them. */

/** In reading order. The launcher reads the same ones. */
export const PROJECT_VARIABLES: readonly string[] = [
  'CLAUDE_PROJECT_DIR',
  'QWEN_PROJECT_DIR',
  'COPILOT_PROJECT_DIR',
  'FACTORY_PROJECT_DIR',
]

/** In bytes: each of git's own files holds one path. */
const GIT_FILE_LIMIT = 8_192

interface RootSources {
  readonly option?: string | undefined
  readonly payloadCwd?: string | undefined
  readonly environment: Environment
  readonly cwd: string
}

export function startFolders({ option, payloadCwd, environment, cwd }: RootSources) {
  const named: [string, string | undefined][] = [
    ['--root', option],
    ['POSTFLIGHT_ROOT', variable(environment, 'POSTFLIGHT_ROOT')],
    ['payload-cwd', payloadCwd],
    ...PROJECT_VARIABLES.map((name): [string, string | undefined] => [name, variable(environment, name)]),
    ['cwd', cwd],
  ]
  return named.flatMap(([from, folder]) => (folder === undefined ? [] : [{ from, path: path.resolve(cwd, folder) }]))
}

/** `found`: the roots of starts that were searched before. */
export function findRoots(
  starts: ReturnType<typeof startFolders>,
  problems: SearchProblem[] = [],
  found: Map<string, string | undefined> = new Map(),
): string[] {
  for (const start of starts) if (!found.has(start.path)) found.set(start.path, findRoot(start.path, problems))
  return [...new Set(starts.flatMap((start) => found.get(start.path) ?? []))]
}

/** `script`: of the CLI. */
export function findHookLocation(sources: RootSources, script: string) {
  const problems: SearchProblem[] = []
  const found = new Map<string, string | undefined>()
  const roots = findRoots(startFolders(sources), problems, found)
  // The agent's shell lacks the host's project variable. Printed commands must name any other root.
  const { payloadCwd, cwd, environment } = sources
  const { POSTFLIGHT_ROOT } = environment
  const ofShell = startFolders({ environment: { POSTFLIGHT_ROOT }, cwd: payloadCwd ?? cwd })
  const [foundRoot] = findRoots(ofShell, [], found)
  return { roots, problems, reader: { foundRoot, findForm: () => findCommandForm(environment, script, cwd) } }
}

/** Resolves links in `start`, so that each project has one path. */
function findRoot(start: string, problems: SearchProblem[]): string | undefined {
  return walkUp(start, (folder) => kindAt(pathIn(folder, SPECS_FOLDER)) === 'folder', problems)
}

export function findRepository(start: string, problems: SearchProblem[] = []): string | undefined {
  return walkUp(start, hasGitEntry, problems)
}

function walkUp(start: string, accept: (folder: string) => boolean, problems: SearchProblem[]): string | undefined {
  let folder = start
  try {
    folder = fs.realpathSync.native(start)
    for (;;) {
      if (accept(folder)) return folder
      const parent = path.dirname(folder)
      // A specs/ folder may be a repository of its own.
      if (parent === folder || (path.basename(folder) !== SPECS_FOLDER && hasGitEntry(folder))) return undefined
      folder = parent
    }
  } catch (error) {
    // The folder may hold `specs/`: walking further could end in another project.
    if (!isAbsent(error)) problems.push({ path: folder, detail: errorCode(error) })
    return undefined
  }
}

function hasGitEntry(folder: string): boolean {
  return kindAt(pathIn(folder, '.git')) !== undefined
}

/**
 * The top folder of the linked worktree that holds `folder`, and its main checkout. Git's two files must name each other, so
 * that no folder can pass for a worktree of another checkout.
 */
export function linkedWorktree(folder: string): { readonly top: string; readonly main: string } | undefined {
  const top = findRepository(folder)
  if (top === undefined) return undefined
  const link = path.join(top, '.git')
  const own = /^gitdir: (.+)$/.exec(lineIn(link) ?? '')?.[1]
  if (own === undefined) return undefined
  const gitFolder = realPathIfSeen(path.resolve(top, own))
  const back = lineIn(path.join(gitFolder, 'gitdir'))
  const commonLine = lineIn(path.join(gitFolder, 'commondir'))
  if (back === undefined || commonLine === undefined) return undefined
  if (realPathIfSeen(path.resolve(gitFolder, back)) !== realPathIfSeen(link)) return undefined
  const common = realPathIfSeen(path.resolve(gitFolder, commonLine))
  const isWorktree = path.dirname(gitFolder) === path.join(common, 'worktrees') && path.basename(common) === '.git'
  return isWorktree && kindIfSeen(common) === 'folder' ? { top, main: path.dirname(common) } : undefined
}

/** The same folder in the main checkout, if this one is in a linked worktree. */
export function inMainCheckout(folder: string): string | undefined {
  const worktree = linkedWorktree(folder)
  return worktree && path.join(worktree.main, path.relative(worktree.top, folder))
}

function lineIn(file: string): string | undefined {
  return textIn(file, GIT_FILE_LIMIT)?.replace(/\r?\n$/, '')
}

const COMMAND_NAMES =
  process.platform === 'win32' ? (['postflight.cmd', 'postflight.exe'] as const) : (['postflight'] as const)

/** Claude Code adds a plugin's `bin/` to the PATH of the agent's shell, but not of hooks (2.1.330). */
export function findCommandForm(environment: Environment, script: string, cwd: string): CommandForm {
  const folders = (environment.PATH ?? environment.Path ?? '').split(path.delimiter).filter((folder) => folder !== '')
  const hasIt = (folder: string): boolean => COMMAND_NAMES.some((name) => isExecutable(pathIn(folder, name)))
  const plugin = environment.CLAUDE_PLUGIN_ROOT ?? ''
  const isFound = folders.some(hasIt)
  const byPlugin = !isFound && plugin !== '' && hasIt(path.join(plugin, 'bin'))
  const onPath = byPlugin || isFound
  return { onPath, byNpx: !onPath && isInProjectOf(script, cwd), byPlugin, script }
}

function isInProjectOf(script: string, cwd: string): boolean {
  const modules = `${path.sep}node_modules${path.sep}`
  const [project = ''] = script.split(modules)
  if (project === script || !`${cwd}${path.sep}`.startsWith(`${project}${path.sep}`)) return false
  // Beside a store, a workspace may alone have the command.
  return [project, cwd].some((folder) => isExecutable(folder + modules + path.join('.bin', COMMAND_NAMES[0])))
}

export function isExecutable(file: string): boolean {
  const isFile = attempt(() => fs.statSync(file, { throwIfNoEntry: false })?.isFile()) === true
  return isFile && succeeds(() => fs.accessSync(file, fs.constants.X_OK))
}
