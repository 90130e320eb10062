import fs from 'node:fs'
import path from 'node:path'
import { kindAt } from '../../disk/file-facts.ts'
import { lookInside, makeFoldersInside } from '../../disk/inside.ts'
import { hideFromGit, makeLastingFolder } from '../../disk/own-folder.ts'
import { removeFile, sync } from '../../disk/write.ts'
import { RUN_HISTORY_FILE, RUN_STATE_FILE, WORKFLOW_FOLDER } from '../../kernel/files.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import type { Definition } from '../definition/definition.ts'
import { ARTIFACTS_FOLDER, isArchivedName, STEP_RESULTS_FOLDER } from '../machine/observation.ts'
import { CHECKS_FOLDER, isReceiptName } from '../machine/receipt.ts'
import type { WorkflowState } from '../machine/state.ts'

/** The folder of the runs that were put aside. */
const RUNS_FOLDER = 'workflow-runs'

/**
 * Moves what earlier runs left to a new folder, `workflow-runs/N`, and returns its path in the task folder; undefined if
 * there was nothing. Nothing of it counts for the next run, which has the phases of `definition`. `ended`: the state of the
 * run before it, whose artifacts are moved too. Without that state, artifacts stay: they may be a person's, as is every file
 * of a name that no run gives. The caller holds the run's lock. After a failure the next call moves the rest.
 * @throws {PostflightError} `not-a-folder`; file-system errors.
 */
export function putAside(
  folder: TaskFolder,
  definition: Definition,
  ended: WorkflowState | undefined,
): string | undefined {
  const left = (ended?.definition.phases ?? []).flatMap((phase) => phase.artifact ?? [])
  const phases = [...definition.phases, ...(ended?.definition.phases ?? [])]
  const folders = new Set(phases.flatMap(({ id }) => [`${ARTIFACTS_FOLDER}/${id}`, `${CHECKS_FOLDER}/${id}`]))
  const archives = new Set(
    phases.flatMap(({ id, artifact }) => [
      ...namesIn(folder.path, `${ARTIFACTS_FOLDER}/${id}`, (name) => isArchivedName(name, artifact ?? '')),
      ...namesIn(folder.path, `${CHECKS_FOLDER}/${id}`, isReceiptName),
    ]),
  )
  const state = ended === undefined ? [] : [RUN_HISTORY_FILE, RUN_STATE_FILE]
  // The state last: as long as it is there, the next call moves the rest too.
  const names = [...left, ...archives, STEP_RESULTS_FOLDER, ...stepResultFiles(folder.path), ...state].filter((name) =>
    isThere(folder.path, name),
  )
  if (names.length === 0) return undefined
  // Git must ignore it, like the state that it will hold.
  if (makeLastingFolder(path.join(folder.path, RUNS_FOLDER))) hideFromGit(path.join(folder.path, RUNS_FOLDER))
  let number = 1
  while (kindAt(path.join(folder.path, RUNS_FOLDER, String(number))) !== undefined) number += 1
  const place = `${RUNS_FOLDER}/${number}`
  const aside = makeFoldersInside(folder.path, place)
  const filled = new Set([aside])
  const syncMoves = (): void => {
    for (const each of filled) sync(each)
  }
  for (const name of names) {
    // Before the state goes: a power cut must not bring back what it led to.
    if (name === RUN_STATE_FILE) syncMoves()
    const target = path.join(aside, ...name.split('/'))
    fs.mkdirSync(path.dirname(target), { recursive: true })
    fs.renameSync(path.join(folder.path, ...name.split('/')), target)
    filled.add(path.dirname(target))
  }
  syncMoves()
  for (const name of [...folders, ARTIFACTS_FOLDER, CHECKS_FOLDER]) removeIfEmpty(path.join(folder.path, name))
  for (const name of promptFiles(path.join(folder.path, WORKFLOW_FOLDER))) {
    removeFile(path.join(folder.path, WORKFLOW_FOLDER, name))
  }
  return place
}

/** The paths of our files in `place`; `place` itself if no run could use it as a folder. */
function namesIn(folder: string, place: string, isOurs: (name: string) => boolean): string[] {
  const target = path.join(folder, ...place.split('/'))
  if (!isThere(folder, place)) return []
  if (kindAt(target) !== 'folder') return [place]
  return fs
    .readdirSync(target)
    .filter(isOurs)
    .map((name) => `${place}/${name}`)
}

function isThere(folder: string, relative: string): boolean {
  const { kind } = lookInside(folder, relative)
  return kind !== 'absent' && kind !== 'elsewhere'
}

/** Removes a folder, unless it holds something else, or is none. */
function removeIfEmpty(target: string): void {
  try {
    fs.rmdirSync(target)
  } catch {}
}

/** The result files of steps in a task folder: `step-result.json`, and one for each step where several are in work. */
export function stepResultFiles(folder: string): string[] {
  return namesLike(folder, /^step-result(?:-\d+)?\.json$/)
}

/** The files with prompts that are too long for a reason, beside the state. */
function promptFiles(folder: string): string[] {
  return namesLike(folder, /^prompt(?:-\d+)?\.md$/)
}

/** In a fixed order; none where the folder cannot be listed. */
function namesLike(folder: string, pattern: RegExp): string[] {
  try {
    return fs
      .readdirSync(folder)
      .filter((name) => pattern.test(name))
      .sort()
  } catch {
    return []
  }
}
