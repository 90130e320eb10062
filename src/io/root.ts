import fs from 'node:fs'
import path from 'node:path'
import { SPECS_FOLDER } from '../core/files.ts'
import { type Environment, variable } from '../core/hosts/host.ts'
import { PROJECT_VARIABLES } from '../core/hosts/index.ts'
import type { SearchProblem } from '../core/task-folder.ts'
import { errorCode, isAbsent } from './fs/errors.ts'

/** The one root resolver (DESIGN section 4). `hooks/postflight-hook` walks the same way; a test compares them. */

/** Where to start looking, and who said so. */
export interface StartFolder {
  readonly from: string
  readonly path: string
}

/** What the start folders are taken from. */
export interface RootSources {
  readonly option?: string | undefined
  readonly payloadCwd?: string | undefined
  readonly environment: Environment
  readonly cwd: string
}

/** The start folders in their order; those that nobody named are left out. */
export function startFolders({ option, payloadCwd, environment, cwd }: RootSources): StartFolder[] {
  const candidates: [string, string | undefined][] = [
    ['--root', option],
    ['POSTFLIGHT_ROOT', variable(environment, 'POSTFLIGHT_ROOT')],
    ["the payload's cwd", payloadCwd],
    ...PROJECT_VARIABLES.map((name): [string, string | undefined] => [name, variable(environment, name)]),
    ['the current folder', cwd],
  ]
  return candidates.flatMap(([from, folder]) =>
    folder === undefined ? [] : [{ from, path: path.resolve(cwd, folder) }],
  )
}

/** Every distinct root that the start folders lead to, in their order; where one could not be looked for, `problems` says so. */
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
 * The root that a command finds by itself when an agent types it: the agent's shell has its current folder and
 * `POSTFLIGHT_ROOT`, and not the host's project variable. Any other root must be named in a command that is printed.
 */
function findAgentRoot({ payloadCwd, environment, cwd }: RootSources): string | undefined {
  const { POSTFLIGHT_ROOT } = environment
  return findRoots(startFolders({ environment: { POSTFLIGHT_ROOT }, cwd: payloadCwd ?? cwd }))[0]
}

/** Where a hook looks, and what a command finds where the agent types it. */
export interface HookPlace {
  /** Every distinct root, in the resolver's order. */
  readonly roots: readonly string[]
  /** The root that a command of the agent finds by itself. */
  readonly foundRoot: string | undefined
  /** Start folders whose root could not be looked for. */
  readonly problems: readonly SearchProblem[]
}

/** The place of a hook that was started with these sources. */
export function findHookPlace(sources: RootSources): HookPlace {
  const problems: SearchProblem[] = []
  const roots = findRoots(startFolders(sources), problems)
  return { roots, foundRoot: findAgentRoot(sources), problems }
}

/**
 * Walks up from `start` to the nearest folder that holds a real `specs/` folder; stops at a `.git` entry or the top.
 * Links in `start` itself are resolved first, so that one project has one name.
 */
export function findRoot(start: string, problems: SearchProblem[] = []): string | undefined {
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
      if (parent === folder || hasGitEntry(folder)) return undefined
      folder = parent
    }
  } catch (error) {
    // What could not be seen is not known to be missing: whoever goes on up may come to another project.
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
