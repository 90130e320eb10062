import fs from 'node:fs'
import path from 'node:path'
import { errorCode, isAbsent } from '../disk/file-facts.ts'
import { SPECS_FOLDER } from '../kernel/files.ts'
import { beginsWithDigit, type SearchProblem, SPECS_ITSELF, type TaskFolder } from './task-folder.ts'

/** Follows no links (docs/design.md, "Task folders"). `hooks/postflight-hook` searches the same places. */

/** Node decodes invalid UTF-8 in a name to this character. */
const REPLACEMENT_CHARACTER = '\ufffd'

interface TaskFolders {
  /** In path order. */
  readonly folders: TaskFolder[]
  readonly problems: SearchProblem[]
  /** As Node decodes them. */
  readonly undecodable: string[]
}

export function listTaskFolders(root: string): TaskFolders {
  const problems: SearchProblem[] = []
  const undecodable: string[] = []
  const specs = path.join(root, SPECS_FOLDER)
  const folders: TaskFolder[] = [{ root, path: specs, task: SPECS_ITSELF, relative: SPECS_FOLDER }]
  for (const name of subfolders(specs, problems, undecodable)) {
    const folder = path.join(specs, name)
    const relative = `${SPECS_FOLDER}/${name}`
    folders.push({ root, path: folder, task: name, relative })
    if (beginsWithDigit(name)) continue
    for (const child of subfolders(folder, problems, undecodable)) {
      folders.push({ root, path: path.join(folder, child), task: child, relative: `${relative}/${child}` })
    }
  }
  return { folders, problems, undecodable }
}

function subfolders(folder: string, problems: SearchProblem[], undecodable: string[]): string[] {
  try {
    const names = fs
      .readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort()
    return names.filter((name) => {
      const isDecoded = !name.includes(REPLACEMENT_CHARACTER)
      if (!isDecoded) undecodable.push(path.join(folder, name))
      return isDecoded
    })
  } catch (error) {
    // Removed in the meantime.
    if (!isAbsent(error)) problems.push({ path: folder, detail: errorCode(error) })
    return []
  }
}

/** Folders in `problems` may hold markers that cannot be judged. */
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
