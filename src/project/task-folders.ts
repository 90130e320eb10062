import fs from 'node:fs'
import path from 'node:path'
import { errorCode, isAbsent } from '../disk/file-errors.ts'
import { SPECS_FOLDER } from '../kernel/files.ts'
import { beginsWithDigit, type SearchProblem, SPECS_ITSELF, type TaskFolder } from './task-folder.ts'
import { decodableFolders, isDoubtful } from './undecodable-folders.ts'

/**
 * The one search (docs/design.md, "Task folders"): `specs/` itself, every folder below it, and one level deeper below
 * folders whose name does not begin with a digit. Links are not followed. `hooks/postflight-hook` searches the same places.
 */

/** Every folder of a root that may hold a marker, in path order, and the folders that could not be searched. */
export function listTaskFolders(root: string): { folders: TaskFolder[]; problems: SearchProblem[] } {
  const problems: SearchProblem[] = []
  const specs = path.join(root, SPECS_FOLDER)
  const folders: TaskFolder[] = [{ root, path: specs, task: SPECS_ITSELF, relative: SPECS_FOLDER }]
  for (const name of subfolders(specs, true, problems)) {
    const folder = path.join(specs, name)
    const relative = `${SPECS_FOLDER}/${name}`
    folders.push({ root, path: folder, task: name, relative })
    if (beginsWithDigit(name)) continue
    for (const child of subfolders(folder, false, problems)) {
      folders.push({ root, path: path.join(folder, child), task: child, relative: `${relative}/${child}` })
    }
  }
  return { folders, problems }
}

/** The names of the folders in `folder`, which is `specs/` itself where `isTop` is true. */
function subfolders(folder: string, isTop: boolean, problems: SearchProblem[]): string[] {
  try {
    const names = fs
      .readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
    return (names.some(isDoubtful) ? decodableFolders(folder, isTop, problems) : names).sort()
  } catch (error) {
    // A folder that was removed in the meantime is not a problem.
    if (!isAbsent(error)) problems.push({ path: folder, detail: errorCode(error) })
    return []
  }
}

/**
 * The folders among `folders` in which something has that name. Folders that cannot be searched are added to `problems`:
 * their markers, if any, cannot be judged.
 */
export function foldersHolding(
  folders: readonly TaskFolder[],
  fileName: string,
  problems: SearchProblem[] = [],
): TaskFolder[] {
  return folders.filter((folder) => {
    try {
      return fs.lstatSync(`${folder.path}${path.sep}${fileName}`, { throwIfNoEntry: false }) !== undefined
    } catch (error) {
      if (!isAbsent(error) && problems.every((problem) => problem.path !== folder.path)) {
        problems.push({ path: folder.path, detail: errorCode(error) })
      }
      return false
    }
  })
}
