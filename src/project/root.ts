import fs from 'node:fs'
import path from 'node:path'
import { errorCode, isAbsent } from '../disk/file-facts.ts'
import { type Environment, variable } from '../kernel/environment.ts'
import { SPECS_FOLDER } from '../kernel/files.ts'
import type { SearchProblem } from './task-folder.ts'

/** The one root resolver (docs/design.md, "Roots"). `hooks/postflight-hook` walks up in the same way; a test compares them. */

/**
 * The variables of hosts that may name the project's folder, in the order in which they are read. The launcher reads the same
 * ones.
 */
export const PROJECT_VARIABLES: readonly string[] = [
  'CLAUDE_PROJECT_DIR',
  'QWEN_PROJECT_DIR',
  'COPILOT_PROJECT_DIR',
  'FACTORY_PROJECT_DIR',
]

/** A folder to start from. */
export interface StartFolder {
  /** The option or variable that names it, or a code for any other source. */
  readonly from: string
  readonly path: string
}

/** The sources of the start folders. */
export interface RootSources {
  readonly option?: string | undefined
  readonly payloadCwd?: string | undefined
  readonly environment: Environment
  readonly cwd: string
}

/** The start folders in their order, one for each source that is set. */
export function startFolders({ option, payloadCwd, environment, cwd }: RootSources): StartFolder[] {
  const candidates: [string, string | undefined][] = [
    ['--root', option],
    ['POSTFLIGHT_ROOT', variable(environment, 'POSTFLIGHT_ROOT')],
    ['payload-cwd', payloadCwd],
    ...PROJECT_VARIABLES.map((name): [string, string | undefined] => [name, variable(environment, name)]),
    ['cwd', cwd],
  ]
  return candidates.flatMap(([from, folder]) =>
    folder === undefined ? [] : [{ from, path: path.resolve(cwd, folder) }],
  )
}

/** Every distinct root that the start folders lead to, in their order. Failed searches are added to `problems`. */
export function findRoots(starts: readonly StartFolder[], problems: SearchProblem[] = []): string[] {
  const roots = new Set<string>()
  const seen = new Set<string>()
  for (const start of starts) {
    if (seen.has(start.path)) continue
    seen.add(start.path)
    const root = findRoot(start.path, problems)
    if (root !== undefined) roots.add(root)
  }
  return [...roots]
}

/**
 * The root that a command finds without `--root` in the agent's shell, which has its current folder and
 * `POSTFLIGHT_ROOT`, but not the host's project variable. A printed command must name any other root.
 */
function findAgentRoot({ payloadCwd, environment, cwd }: RootSources): string | undefined {
  const { POSTFLIGHT_ROOT } = environment
  return findRoots(startFolders({ environment: { POSTFLIGHT_ROOT }, cwd: payloadCwd ?? cwd }))[0]
}

/** The roots of a hook, and the root that the agent's commands find. */
export interface HookPlace {
  /** Every distinct root, in the resolver's order. */
  readonly roots: readonly string[]
  /** The root that the agent's commands find without `--root`. */
  readonly foundRoot: string | undefined
  /** Folders at which a search failed. */
  readonly problems: readonly SearchProblem[]
}

/** The place of a hook with these sources. */
export function findHookPlace(sources: RootSources): HookPlace {
  const problems: SearchProblem[] = []
  const starts = startFolders(sources)
  const roots = findRoots(starts, problems)
  return { roots, foundRoot: findAgentRoot(sources), problems }
}

/**
 * The nearest folder at or above `start` that holds a real `specs/` folder; undefined where a repository's top or the
 * file system's comes first. Links in `start` itself are resolved first, so that each project has one path.
 */
function findRoot(start: string, problems: SearchProblem[] = []): string | undefined {
  return walkUp(start, (folder) => isRealFolder(path.join(folder, SPECS_FOLDER)), problems)
}

/** The nearest folder at or above `start` that holds a `.git` entry. */
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
      // A specs/ folder may be a repository of its own; then the project is the folder above it.
      if (parent === folder || (path.basename(folder) !== SPECS_FOLDER && hasGitEntry(folder))) return undefined
      folder = parent
    }
  } catch (error) {
    // The folder may still hold `specs/`. A walk that went on from here could end in another project.
    if (!isAbsent(error)) problems.push({ path: folder, detail: errorCode(error) })
    return undefined
  }
}

function hasGitEntry(folder: string): boolean {
  return lstat(path.join(folder, '.git')) !== undefined
}

function isRealFolder(folder: string): boolean {
  return lstat(folder)?.isDirectory() ?? false
}

function lstat(target: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(target, { throwIfNoEntry: false })
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}
