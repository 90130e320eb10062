import fs from 'node:fs'
import path from 'node:path'
import { makeFoldersInside } from '../../disk/inside.ts'
import { hideFromGit, makeOwnFolder } from '../../disk/own-folder.ts'
import { kindAt } from '../../disk/path-kind.ts'
import { readSmallFile } from '../../disk/read.ts'
import { tryRemoveFile } from '../../disk/write.ts'
import { RUN_STATE_FILE, SPECS_FOLDER } from '../../kernel/files.ts'
import { findRepository } from '../../project/root.ts'
import { SPECS_ITSELF, type TaskFolder } from '../../project/task-folder.ts'
import type { WorkflowState } from '../machine/state.ts'
import { isState, parseState, STATE_MAX_BYTES } from '../machine/state-file.ts'
import { isHeldElsewhere, NAME_MAX_BYTES } from './run-file.ts'

/**
 * A copy of each active run's state in the repository's `.git` folder. `git clean -x` removes the state, which git ignores,
 * and leaves the copy, from which `workflow resume` goes on (docs/design.md, "Workflows"). It is a link to the state's file,
 * so it costs no second writing. A linked worktree has no `.git` folder of its own, and no copies.
 */

/** The folder of copies, in `.git`. */
const COPIES_FOLDER = 'postflight-guard'

/** The name of a copy: the run's id and the task folder's path from the repository's top, "/" as "%". */
const COPY_NAME = /^(wf_[A-Za-z0-9]{12})\.(.+)\.json$/

/** A run whose state is gone from its task folder. */
export interface LostRun {
  readonly repository: string
  /** The task folder, which may be gone too. */
  readonly folder: TaskFolder
  readonly state: WorkflowState
  /** The path of the copy. */
  readonly copy: string
}

/** Keeps a copy of the state that was just written. The run goes on without one too, so this never throws. */
export function keepCopy(folder: TaskFolder, id: string): void {
  try {
    const copy = copyOf(folder, id)
    if (copy === undefined) return
    const copies = path.dirname(copy)
    const name = path.basename(copy)
    makeOwnFolder(copies)
    removeCopies(copies, (one) => one.startsWith(`${id}.`) || one.slice(id.length) === name.slice(id.length))
    fs.linkSync(path.join(folder.path, RUN_STATE_FILE), copy)
  } catch {
    // See above.
  }
}

/** The path of a run's copy; undefined where none can be kept. @throws file-system errors. */
function copyOf(folder: TaskFolder, id: string): string | undefined {
  const repository = findRepository(folder.root)
  const copies = repository === undefined ? undefined : copiesFolder(repository)
  if (repository === undefined || copies === undefined) return undefined
  const below = path.relative(repository, fs.realpathSync.native(folder.path)).split(path.sep)
  const name = `${id}.${below.join('%')}.json`
  if (below.some((part) => part.includes('%')) || Buffer.byteLength(name) > NAME_MAX_BYTES) return undefined
  return path.join(copies, name)
}

/** The state in a run's copy; undefined without a copy, and for a damaged one. @throws file-system errors. */
export function copiedState(folder: TaskFolder, id: string): WorkflowState | undefined {
  const copy = copyOf(folder, id)
  return copy === undefined ? undefined : stateIn(copy, id)
}

function stateIn(copy: string, id: string): WorkflowState | undefined {
  const read = readSmallFile(copy, STATE_MAX_BYTES)
  const state = read.kind === 'text' ? parseState(read.text) : undefined
  return state !== undefined && isState(state) && state.id === id ? state : undefined
}

/** Removes the copy of a run that has ended. Never throws: a copy beside a state does nothing. */
export function removeCopy(root: string, id: string): void {
  try {
    const repository = findRepository(root)
    const copies = repository === undefined ? undefined : copiesFolder(repository)
    if (copies !== undefined) removeCopies(copies, (one) => one.startsWith(`${id}.`))
  } catch {
    // See above.
  }
}

/** The runs of a repository whose state is gone. Never throws. */
export function findLostRuns(repository: string): LostRun[] {
  try {
    const copies = copiesFolder(repository)
    if (copies === undefined || kindAt(copies) !== 'folder') return []
    return fs
      .readdirSync(copies)
      .sort()
      .flatMap((name) => lostRun(repository, path.join(copies, name)) ?? [])
  } catch {
    return []
  }
}

function lostRun(repository: string, copy: string): LostRun | undefined {
  const [, id, encoded] = COPY_NAME.exec(path.basename(copy)) ?? []
  const folder = encoded === undefined ? undefined : folderNamed(repository, encoded.split('%'))
  if (id === undefined || folder === undefined) return undefined
  // Another run has begun there, or the folder was renamed.
  if (kindAt(path.join(folder.path, RUN_STATE_FILE)) !== undefined) return undefined
  if (isHeldElsewhere(folder, id)) return undefined
  const state = stateIn(copy, id)
  return state === undefined ? undefined : { repository, folder, state, copy }
}

/** The task folder at a path from the repository's top. */
function folderNamed(repository: string, names: readonly string[]): TaskFolder | undefined {
  const specs = names.indexOf(SPECS_FOLDER)
  const below = names.slice(specs + 1)
  if (specs < 0 || below.length > 2 || names.some((name) => name === '' || name === '.' || name === '..'))
    return undefined
  return {
    root: path.join(repository, ...names.slice(0, specs)),
    path: path.join(repository, ...names),
    task: below.at(-1) ?? SPECS_ITSELF,
    relative: [SPECS_FOLDER, ...below].join('/'),
  }
}

/**
 * Puts the state of a lost run back into its task folder, which is created where it is gone. Nothing is written through
 * a link in place of one of the folders.
 * @throws {PostflightError} `not-a-folder`; file-system errors.
 */
export function restoreRun({ repository, folder, copy }: LostRun): void {
  const target = path.join(folder.path, RUN_STATE_FILE)
  makeFoldersInside(repository, path.relative(repository, path.dirname(target)).replaceAll(path.sep, '/'))
  // It went with the state. Without it the next `git add -A` commits the run.
  hideFromGit(path.dirname(target))
  // A link appears as a whole or not at all, and fails if a state exists there by now.
  fs.linkSync(copy, target)
}

function copiesFolder(repository: string): string | undefined {
  const git = path.join(repository, '.git')
  return kindAt(git) === 'folder' ? path.join(git, COPIES_FOLDER) : undefined
}

function removeCopies(copies: string, isMeant: (name: string) => boolean): void {
  if (kindAt(copies) !== 'folder') return
  for (const name of fs.readdirSync(copies)) if (isMeant(name)) tryRemoveFile(path.join(copies, name))
}
