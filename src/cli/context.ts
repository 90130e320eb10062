import path from 'node:path'
import { PostflightError } from '../core/errors.ts'
import type { Environment } from '../core/hosts/host.ts'
import type { JournalEntry } from '../core/journal-entry.ts'
import type { SearchProblem, TaskFolder } from '../core/task-folder.ts'
import { inLine } from '../core/text.ts'
import { findTaskFolder, refuseUnsearched } from '../io/find-task-folder.ts'
import { kindAt } from '../io/fs/path-kind.ts'
import { appendJournal } from '../io/journal.ts'
import { findRepository, findRoots, startFolders } from '../io/root.ts'

/** What every command is given: the world, injected, so that a test can bring its own. */
export interface CommandContext {
  readonly environment: Environment
  readonly cwd: string
  /** ms since the epoch. */
  readonly nowMs: number
  /** `--root`, as it was given. */
  readonly rootOption: string | undefined
  /** The folder of this package: where bin/, hooks/ and dist/ lie. */
  readonly packageFolder: string
  /** The user's home folder; asked for only by what looks there. */
  readonly findHome: () => string
  readonly platform: NodeJS.Platform
  /** Says something on stderr at once: notes that are no result. */
  readonly note: (text: string) => void
}

/** What a command comes to: data for `--json`, lines for people. */
export interface CommandResult<Data extends object = object> {
  readonly exitCode: 0 | 1
  /** One JSON document, snake_case; its schema lies in `documents/`. */
  readonly data: Data
  readonly lines: readonly string[]
  /** What is printed even with --quiet: the answer itself, where a script needs it. */
  readonly essential?: readonly string[]
}

/** The folder that somebody named explicitly, or undefined. */
function explicitStart(context: CommandContext): { from: string; path: string } | undefined {
  const [first] = startFolders({ option: context.rootOption, environment: context.environment, cwd: context.cwd })
  return first?.from === '--root' || first?.from === 'POSTFLIGHT_ROOT' ? first : undefined
}

/**
 * The first root (DESIGN section 4), or undefined. A folder that somebody named is the only start: finding another
 * project's root after a slip of the pen would be worse than finding none.
 * @throws {PostflightError} `root-missing` when the named folder is not there; `file-unreadable` when there is none to be
 * seen, and one may be where nobody can look.
 */
export function findCommandRoot(context: CommandContext): string | undefined {
  const explicit = explicitStart(context)
  if (explicit !== undefined && !isFolder(explicit.path)) throw new PostflightError('root-missing', { ...explicit })
  const starts =
    explicit === undefined ? startFolders({ environment: context.environment, cwd: context.cwd }) : [explicit]
  const problems: SearchProblem[] = []
  const [root] = findRoots(starts, problems)
  if (root === undefined) refuseUnsearched(problems)
  return root
}

/** Where a command starts that may have to make `specs/`: the named folder, or the current one. */
export function startOf(context: CommandContext): { path: string; explicit: boolean } {
  const explicit = explicitStart(context)
  return { path: explicit?.path ?? context.cwd, explicit: explicit !== undefined }
}

/** The repository that a folder lies in. @throws {PostflightError} `file-unreadable` where that cannot be told. */
export function findCommandRepository(start: string): string | undefined {
  const problems: SearchProblem[] = []
  const repository = findRepository(start, problems)
  refuseUnsearched(problems)
  return repository
}

/** The first root. @throws {PostflightError} `root-none`, `root-missing`. */
export function requireRoot(context: CommandContext): string {
  const root = findCommandRoot(context)
  if (root === undefined) throw new PostflightError('root-none', { start: startOf(context).path })
  return root
}

/**
 * The folder of a task as a person names it; `wanted`: what is looked for in it.
 * @throws {PostflightError} `task-unknown`, `task-ambiguous`, `task-invalid`.
 */
export function requireTaskFolder(root: string, task: string, wanted: 'marker' | 'workflow' = 'marker'): TaskFolder {
  const folder = findTaskFolder(root, task)
  if (folder === undefined) throw new PostflightError('task-unknown', { task, specs: path.join(root, 'specs'), wanted })
  return folder
}

/**
 * `<task>` or one of the options that stand for several.
 * @throws {PostflightError} `target-missing`, `target-twice`.
 */
export function requireOneTarget(task: string | undefined, options: Readonly<Record<string, boolean>>): void {
  const names = Object.keys(options).map((name) => `--${name}`)
  const given = Object.values(options).filter(Boolean).length + (task === undefined ? 0 : 1)
  if (given === 0) throw new PostflightError('target-missing', { options: names.join(', ') })
  if (given > 1) throw new PostflightError('target-twice', { options: names.join(', ') })
}

/**
 * Does `action` for every item, also where one of them fails: an emergency command must not stop at the one marker
 * that is broken. The first failure is thrown when all is done.
 */
export function forEveryOne<T, R>(items: readonly T[], action: (item: T) => R): R[] {
  const failures: unknown[] = []
  const results = items.flatMap((item) => {
    try {
      return [action(item)]
    } catch (error) {
      failures.push(error)
      return []
    }
  })
  if (failures.length > 0) throw failures[0]
  return results
}

/** Records what was done; a journal that cannot be written is a note, not a failure. */
export function recordInJournal(context: CommandContext, root: string, entries: readonly JournalEntry[]): void {
  const problem = appendJournal(root, entries, context.nowMs)
  if (problem !== undefined) context.note(inLine(`postflight: not in the journal: ${problem}`))
}

/** A path for people: relative to the current folder where it lies below it. */
export function displayPath(context: CommandContext, target: string): string {
  const relative = path.relative(context.cwd, target)
  return inLine(relative === '' || relative.startsWith('..') || path.isAbsolute(relative) ? target : relative)
}

function isFolder(target: string): boolean {
  try {
    const kind = kindAt(target)
    return kind === 'folder' || kind === 'a link'
  } catch {
    return false
  }
}
