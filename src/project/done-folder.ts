import { sha256 } from '../disk/ids.ts'
import { DONE_FOLDER_PREFIX, JOURNAL_FOLDER, SPECS_FOLDER } from '../kernel/files.ts'
import type { TaskFolder } from './task-folder.ts'

/** The `<task>` of the session's own folder. */
export const DONE_WORD = 'done'

const FOLDER_NAME = new RegExp(`^${DONE_FOLDER_PREFIX}[0-9a-f]{16}$`)

export function sessionFolderName(session: string): string {
  return `${DONE_FOLDER_PREFIX}${sha256(session).slice(0, 16)}`
}

export function isSessionFolderName(name: string): boolean {
  return FOLDER_NAME.test(name)
}

export function sessionFolderPath(name: string): string {
  return `${SPECS_FOLDER}/${JOURNAL_FOLDER}/${name}`
}

export function isSessionFolder({ task, relative }: Pick<TaskFolder, 'task' | 'relative'>): boolean {
  return isSessionFolderName(task) && relative === sessionFolderPath(task)
}
