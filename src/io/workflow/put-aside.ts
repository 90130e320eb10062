import fs from 'node:fs'
import path from 'node:path'
import { RUN_HISTORY_FILE, RUN_STATE_FILE, WORKFLOW_FOLDER } from '../../core/files.ts'
import type { TaskFolder } from '../../core/task-folder.ts'
import { ARTIFACTS_FOLDER, STEP_RESULTS_FOLDER } from '../../core/workflow/archive.ts'
import { CHECKS_FOLDER } from '../../core/workflow/receipt.ts'
import type { WorkflowState } from '../../core/workflow/state.ts'
import { lookInside, makeFoldersInside } from '../fs/inside.ts'
import { hideFromGit, makeOwnFolder } from '../fs/own-folder.ts'
import { kindAt } from '../fs/path-kind.ts'
import { removeFile } from '../fs/write.ts'
import { promptFiles, stepResultFiles } from './step-files.ts'

/** The folder of the runs that were put aside. */
const RUNS_FOLDER = 'workflow-runs'

/**
 * Moves all files of an ended run to a new folder, `workflow-runs/N`, so that they do not count for the next run. The
 * caller holds the run's lock. After a failure the next call moves the rest.
 * @throws {PostflightError} `not-a-folder`; file-system errors.
 */
export function putAside(folder: TaskFolder, state: WorkflowState): void {
  // Git must ignore it, like the state that it will hold.
  if (makeOwnFolder(path.join(folder.path, RUNS_FOLDER))) hideFromGit(path.join(folder.path, RUNS_FOLDER))
  let number = 1
  while (kindAt(path.join(folder.path, RUNS_FOLDER, String(number))) !== undefined) number += 1
  const aside = makeFoldersInside(folder.path, `${RUNS_FOLDER}/${number}`)
  const move = (relative: string): void => {
    const { kind } = lookInside(folder.path, relative)
    if (kind === 'absent' || kind === 'elsewhere') return
    const target = path.join(aside, ...relative.split('/'))
    fs.mkdirSync(path.dirname(target), { recursive: true })
    fs.renameSync(path.join(folder.path, ...relative.split('/')), target)
  }
  // The state last: as long as it is there, the next call moves the rest too.
  const artifacts = state.definition.phases.flatMap((phase) => phase.artifact ?? [])
  for (const name of [
    ...artifacts,
    ARTIFACTS_FOLDER,
    STEP_RESULTS_FOLDER,
    CHECKS_FOLDER,
    ...stepResultFiles(folder.path),
  ]) {
    move(name)
  }
  move(RUN_HISTORY_FILE)
  move(RUN_STATE_FILE)
  for (const name of promptFiles(path.join(folder.path, WORKFLOW_FOLDER))) {
    removeFile(path.join(folder.path, WORKFLOW_FOLDER, name))
  }
}
