import fs from 'node:fs'
import path from 'node:path'
import { kindAt } from '../disk/file-facts.ts'
import { ABANDONED_FILE, CLAIMS_FOLDER, RETURN_META_FILE } from '../kernel/files.ts'
import type { TaskFolder } from '../project/task-folder.ts'

/** Selects the files of a task folder that `clear` removes. */

/** Our own files, and the temporary files that a killed process left. */
const CLEARABLE = /^\.postflight-(?:pending|loop-guard|abandoned(?:\.\d+)?|claims|(?:pending|lock)\.[\w-]+\.tmp)$/

const ABANDONED = new RegExp(`^\\${ABANDONED_FILE}(?:\\.\\d+)?$`)

/** The names of the files that `clear` removes from a folder. */
export function clearableFiles(folder: TaskFolder, returnMeta: boolean): string[] {
  return fs
    .readdirSync(folder.path)
    .filter((name) => CLEARABLE.test(name) || (returnMeta && name === RETURN_META_FILE))
    .filter((name) => name !== CLAIMS_FOLDER || kindAt(path.join(folder.path, name)) === 'folder')
    .sort()
}

/** True for the name of an abandoned marker, also of an earlier one. */
export function isAbandonedName(name: string): boolean {
  return ABANDONED.test(name)
}
