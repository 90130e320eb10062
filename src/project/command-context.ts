import path from 'node:path'
import { kindAt } from '../disk/file-facts.ts'
import type { StdinRead } from '../disk/stdin.ts'
import type { Environment } from '../kernel/environment.ts'
import { type ErrorArguments, PostflightError } from '../kernel/errors.ts'
import { inLine } from '../kernel/text.ts'
import { findTaskFolder, refuseUnsearched } from './find-task-folder.ts'
import { appendJournal } from './journal.ts'
import type { JournalEntry } from './journal-entry.ts'
import { notInJournal } from './journal-entry.ts'
import { findRepository, findRoots, startFolders } from './root.ts'
import { noteRoot, ROOTS_FILE_VARIABLE } from './roots-file.ts'
import type { SearchProblem, TaskFolder } from './task-folder.ts'

/** Everything a command needs from its process. Tests inject their own. */
export interface CommandContext {
  readonly environment: Environment
  readonly cwd: string
  /** ms since the epoch. */
  readonly nowMs: number
  /** When the process was started (ms since the epoch). */
  readonly findStart: () => number
  /** The value of `--root`. */
  readonly rootOption: string | undefined
  /** This package's folder, which holds bin/, hooks/ and dist/. */
  readonly packageFolder: string
  /** Finds the user's home folder. Called only where it is needed. */
  readonly findHome: () => string
  readonly platform: NodeJS.Platform
  /** True if stdout is caught by another program, or thrown away. `isPiped`: the host's shell has a pipe as its stdout. */
  readonly isOutputCaught: (shell: { readonly isPiped: boolean }) => boolean
  /** The person at the terminal; undefined if there is none. */
  readonly terminal?: Terminal | undefined
  /** Reads what a host writes to stdin, for at most so many ms. Undefined where the command may not read stdin. */
  readonly readInput?: (patienceMs: number) => Promise<StdinRead>
  /** Prints a note on stderr at once. */
  readonly note: (text: string) => void
}

/** A person who can be asked. */
export interface Terminal {
  readonly print: (line: string) => void
  /** The answer; undefined at the end of the input. */
  readonly ask: (question: string) => string | undefined
}

/** The result of a command: data for `--json`, lines for people. */
export interface CommandResult<Data extends object = object> {
  readonly exitCode: 0 | 1
  /** The JSON document, in snake_case. Its schema is in `documents/`. */
  readonly data: Data
  readonly lines: readonly string[]
  /** Lines that --quiet prints too, because scripts need them. */
  readonly essential?: readonly string[]
}

/** The folder that `--root` or `POSTFLIGHT_ROOT` names, or undefined. */
function explicitStart(context: CommandContext): { from: string; path: string } | undefined {
  const [first] = startFolders({ option: context.rootOption, environment: context.environment, cwd: context.cwd })
  return first?.from === '--root' || first?.from === 'POSTFLIGHT_ROOT' ? first : undefined
}

/**
 * The first root (docs/design.md, "Roots"), or undefined. A folder that was named explicitly is the only start: with a
 * typo in it, finding another project's root would be worse than finding none.
 * @throws {PostflightError} `root-missing` when the named folder does not exist; `file-unreadable` when no root is found
 * but a folder on the way cannot be read.
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

/** The start folder of a command that may create `specs/`: the named folder, or the current one. */
export function startOf(context: CommandContext): { path: string; explicit: boolean } {
  const explicit = explicitStart(context)
  return { path: explicit?.path ?? context.cwd, explicit: explicit !== undefined }
}

/**
 * The repository that holds a folder.
 * @throws {PostflightError} `file-unreadable` where the search cannot read a folder.
 */
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
 * The folder of a task, by its number or name. `wanted` is what the command needs in it, `session` the caller's.
 * @throws {PostflightError} `task-unknown`, `task-ambiguous`, `task-invalid`.
 */
export function requireTaskFolder(
  root: string,
  task: string,
  wanted: ErrorArguments['task-unknown']['wanted'] = 'marker',
  session?: string,
): TaskFolder {
  const folder = findTaskFolder(root, task, session)
  if (folder === undefined) throw new PostflightError('task-unknown', { task, specs: path.join(root, 'specs'), wanted })
  return folder
}

/**
 * Appends to the journal, and tells the plugin of a host of this root. A journal that cannot be written leads to a note, not
 * to a failure.
 */
export function recordInJournal(context: CommandContext, root: string, entries: readonly JournalEntry[]): void {
  noteRoot(context.environment[ROOTS_FILE_VARIABLE], root)
  const problem = appendJournal(root, entries, context.nowMs)
  if (problem !== undefined) context.note(notInJournal(problem))
}

/** A path for people: relative to the current folder if it lies below it. */
export function displayPath(context: CommandContext, target: string): string {
  const relative = path.relative(context.cwd, target)
  return inLine(relative === '' || relative.startsWith('..') || path.isAbsolute(relative) ? target : relative)
}

function isFolder(target: string): boolean {
  try {
    const kind = kindAt(target)
    return kind === 'folder' || kind === 'link'
  } catch {
    return false
  }
}
