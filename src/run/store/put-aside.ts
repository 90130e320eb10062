import fs from 'node:fs'
import path from 'node:path'
import { kindAt } from '../../disk/file-facts.ts'
import {
  inspectInside,
  makeFoldersInside,
  makeHiddenFolder,
  move,
  namesLike,
  removeIfEmpty,
} from '../../disk/folders.ts'
import { removeFile, sync } from '../../disk/write.ts'
import {
  ARTIFACTS_FOLDER,
  CHECKS_FOLDER,
  EARLIER_RUNS_FOLDER,
  RUN_HISTORY_FILE,
  RUN_STATE_FILE,
  STEP_RESULTS_FOLDER,
  WORKFLOW_FOLDER,
} from '../../kernel/files.ts'
import { isReceiptName, STEP_RESULT_NAME } from '../../project/own-files.ts'
import type { TaskFolder } from '../../project/task-folder.ts'
import type { Definition } from '../definition/definition.ts'
import { isArchivedName } from '../machine/observation.ts'
import type { WorkflowState } from '../machine/state.ts'

/**
 * Moves files of earlier runs to `workflow-runs/N`. Without `ended`, artifacts stay: they may be a person's. Needs the
 * run's lock.
 */
export function putAside(folder: TaskFolder, definition: Definition, ended: WorkflowState | undefined) {
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
  // The state goes last: while it exists, the next call moves the rest.
  const names = [...left, ...archives, STEP_RESULTS_FOLDER, ...stepResultFiles(folder.path), ...state].filter((name) =>
    isThere(folder.path, name),
  )
  if (names.length === 0) return undefined
  // Git must ignore it, like the state.
  makeHiddenFolder(path.join(folder.path, EARLIER_RUNS_FOLDER))
  let number = 1
  while (kindAt(path.join(folder.path, EARLIER_RUNS_FOLDER, String(number))) !== undefined) number += 1
  const location = `${EARLIER_RUNS_FOLDER}/${number}`
  const aside = makeFoldersInside(folder.path, location)
  const filled = new Set([aside])
  const syncMoves = (): void => {
    for (const each of filled) sync(each)
  }
  for (const name of names) {
    // Before the state: a power cut must not undo these moves and keep that one.
    if (name === RUN_STATE_FILE) syncMoves()
    const target = path.join(aside, ...name.split('/'))
    fs.mkdirSync(path.dirname(target), { recursive: true })
    move(path.join(folder.path, ...name.split('/')), target, filled)
  }
  syncMoves()
  for (const name of [...folders, ARTIFACTS_FOLDER, CHECKS_FOLDER]) removeIfEmpty(path.join(folder.path, name))
  const own = path.join(folder.path, WORKFLOW_FOLDER)
  // Prompts too long for a block reason.
  for (const name of namesLike(own, /^prompt(?:-\d+)?\.md$/)) removeFile(path.join(own, name))
  return location
}

export function namesIn(folder: string, location: string, isOurs: (name: string) => boolean): string[] {
  const target = path.join(folder, ...location.split('/'))
  if (!isThere(folder, location)) return []
  // No run could use it as a folder.
  if (kindAt(target) !== 'folder') return [location]
  const names = fs.readdirSync(target).filter(isOurs)
  return names.map((name) => `${location}/${name}`)
}

function isThere(folder: string, relative: string): boolean {
  const { kind } = inspectInside(folder, relative)
  return kind !== 'absent' && kind !== 'elsewhere'
}

export function stepResultFiles(folder: string): string[] {
  return namesLike(folder, STEP_RESULT_NAME)
}
