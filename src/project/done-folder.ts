import { sha256 } from '../disk/hash.ts'
import { DONE_FOLDER_PREFIX, JOURNAL_FOLDER, SPECS_FOLDER } from '../kernel/files.ts'
import type { TaskFolder } from './task-folder.ts'

/** The names of the folders in which sessions keep what they know of the definition of done. */

/** The word for a session's own folder on a command line. */
export const DONE_WORD = 'done'

const FOLDER_NAME = new RegExp(`^${DONE_FOLDER_PREFIX}[0-9a-f]{16}$`)

/** The name of a session's folder. */
export function sessionFolderName(session: string): string {
  return `${DONE_FOLDER_PREFIX}${sha256(session).slice(0, 16)}`
}

/** Whether a name is that of a session's folder. */
export function isSessionFolderName(name: string): boolean {
  return FOLDER_NAME.test(name)
}

/** The path of a session's folder for people, relative to the root. */
export function sessionFolderPath(name: string): string {
  return `${SPECS_FOLDER}/${JOURNAL_FOLDER}/${name}`
}

/** Whether a folder is that of a session. */
export function isSessionFolder({ task, relative }: Pick<TaskFolder, 'task' | 'relative'>): boolean {
  return isSessionFolderName(task) && relative === sessionFolderPath(task)
}
