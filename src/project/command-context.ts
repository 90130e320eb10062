import fs from 'node:fs'
import path from 'node:path'
import { kindIfSeen } from '../disk/file-facts.ts'
import { readSmallFile } from '../disk/read.ts'
import type { StdinRead } from '../disk/stdin.ts'
import { type ErrorArguments, PostflightError } from '../kernel/errors.ts'
import { SPECS_FOLDER } from '../kernel/files.ts'
import { inLine } from '../kernel/text.ts'
import { attempt, type Environment } from '../kernel/values.ts'
import { appendJournal } from './journal.ts'
import { type JournalEntry, notInJournal } from './journal-entry.ts'
import { findRepository, findRoots, startFolders } from './root.ts'
import type { SearchProblem, TaskFolder } from './task-folder.ts'
import { DONE_WORD, findTaskFolder, refuseUnsearched, sessionFolderName, sessionFolderPath } from './task-folders.ts'

export interface CommandContext {
  readonly environment: Environment
  /** Of the host, by the shell that the command runs in. */
  readonly session: string | undefined
  readonly cwd: string
  readonly nowMs: number
  readonly findStart: () => number
  readonly rootOption: string | undefined
  readonly packageFolder: string
  readonly findHome: () => string
  readonly platform: NodeJS.Platform
  /** Whether a program or nothing reads stdout. `isPiped`: the host's shell has a pipe as its stdout. */
  readonly isOutputCaught: (shell: { readonly isPiped: boolean }) => boolean
  readonly terminal?: Terminal | undefined
  readonly paint: Painter
  /** Undefined if the command may not read stdin. */
  readonly readInput?: (patienceMs: number) => Promise<StdinRead>
  readonly note: (text: string) => void
}

export type Terminal = Readonly<{ print: (line: string) => void; ask: (question: string) => string | undefined }>

export type Painter = Readonly<Record<'bold' | 'dim' | 'green' | 'yellow' | 'red', (text: string) => string>>

/** Data for `--json`, lines for people. */
export interface CommandResult<Data extends object = object> {
  /** 0 if it is left out. */
  readonly exitCode?: 0 | 1
  /** In snake_case. */
  readonly data: Data
  readonly lines: readonly string[]
  /** Printed with --quiet too: scripts need them. */
  readonly essential?: readonly string[]
  /** With `--watch`: whether nothing more can change. Undefined: without a terminal, it is printed once. */
  readonly isOver?: boolean
}

/** A folder that `--root` or `POSTFLIGHT_ROOT` names is the only start: after a typo, another root would be worse. */
export function startOf({ rootOption, environment, cwd }: Pick<CommandContext, 'rootOption' | 'environment' | 'cwd'>) {
  // An empty path would be the working directory.
  if (rootOption === '') throw new PostflightError('root-missing', { path: '""', from: '--root' })
  const starts = startFolders({ option: rootOption, environment, cwd })
  const named = starts.slice(0, 1).filter(({ from }) => from === '--root' || from === 'POSTFLIGHT_ROOT')
  const explicit = named.length > 0
  return { path: named[0]?.path ?? cwd, explicit, starts: explicit ? named : starts }
}

export function findCommandRoot(context: CommandContext): string | undefined {
  const { explicit, starts } = startOf(context)
  const missing = explicit && starts.find(({ path }) => !['folder', 'link'].includes(kindIfSeen(path) ?? ''))
  if (missing) throw new PostflightError('root-missing', missing)
  const problems: SearchProblem[] = []
  const [root] = findRoots(starts, problems)
  if (root === undefined) refuseUnsearched(problems)
  return root
}

export function findCommandRepository(start: string): string | undefined {
  const problems: SearchProblem[] = []
  const repository = findRepository(start, problems)
  refuseUnsearched(problems)
  return repository
}

/** The root, or the folder that would become it. */
export function projectFolder(context: CommandContext): string {
  const start = startOf(context)
  return findCommandRoot(context) ?? (start.explicit ? undefined : findCommandRepository(start.path)) ?? start.path
}

/** `doneFile`: the path in the root of the definition of done, if the command is about it. */
export function requireRoot(context: CommandContext, doneFile?: string): string {
  const root = findCommandRoot(context)
  if (root !== undefined) return root
  const start = projectFolder(context)
  const kind = kindIfSeen(path.join(start, SPECS_FOLDER))
  if (kind !== undefined && kind !== 'folder') throw new PostflightError('root-none', { start, kind })
  if (doneFile === undefined) throw new PostflightError('root-none', { start: startOf(context).path })
  throw new PostflightError('done-none', { path: path.join(start, doneFile) })
}

export function requireTaskFolder(
  context: CommandContext,
  task: string,
  wanted: ErrorArguments['task-unknown']['wanted'] = 'marker',
  session = context.session,
): TaskFolder {
  const root = requireRoot(context)
  const folder = findTaskFolder(root, task, session)
  if (folder !== undefined) return folder
  if (task === DONE_WORD && wanted === 'marker') {
    const name = session === undefined ? '' : sessionFolderName(session)
    throw new PostflightError('marker-none', { folder: sessionFolderPath(name) })
  }
  throw new PostflightError('task-unknown', { task, specs: path.join(root, 'specs'), wanted })
}

/** Prints a note if the journal cannot be written. Also tells OpenCode's plugin the root. */
export function recordInJournal(
  context: CommandContext,
  { root, task }: Pick<TaskFolder, 'root' | 'task'>,
  ...entries: readonly JournalEntry[]
): void {
  noteRoot(context.environment[ROOTS_FILE_VARIABLE], root)
  const ofTask = entries.map((entry) => ({ task, ...entry }))
  // The command may have started minutes ago, before its checks.
  const problem = appendJournal(root, ofTask, Date.now())
  if (problem !== undefined) context.note(notInJournal(problem, 'postflight'))
}

export function displayPath(context: CommandContext, target: string): string {
  const relative = path.relative(context.cwd, target)
  return inLine(relative === '' || relative.startsWith('..') || path.isAbsolute(relative) ? target : relative)
}

/**
 * OpenCode does not report the folder of `cd ../worktree && postflight create …`: its plugin makes a file per
 * conversation, to which the CLI adds its root.
 */
export const ROOTS_FILE_VARIABLE = 'POSTFLIGHT_ROOTS_FILE'

const LIMIT = 65_536

/** Never throws: the host may still report the root. */
function noteRoot(file: string | undefined, root: string): void {
  // Only the plugin's own file, which it has made.
  if (!file || kindIfSeen(file) !== 'file' || root.includes('\n') || notedRoots(file).includes(root)) return
  attempt(() => fs.appendFileSync(file, `${root}\n`))
}

export function notedRoots(file: string): readonly string[] {
  const read = readSmallFile(file, LIMIT)
  return read.kind === 'text' ? read.text.split('\n').filter((line) => line !== '') : []
}
