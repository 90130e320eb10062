import fs from 'node:fs'
import { closeQuietly } from '../disk/file-facts.ts'
import { readSmallFile } from '../disk/read.ts'

/**
 * The roots in which a conversation's commands made markers, where the host cannot tell in which folder they ran: an
 * agent's `cd ../worktree && postflight create …` is one command of the project's folder to OpenCode. Its plugin makes an
 * empty file for each conversation and names it in the shell's environment, and the CLI adds its root, one line each.
 */

/** The environment variable that names the file. */
export const ROOTS_FILE_VARIABLE = 'POSTFLIGHT_ROOTS_FILE'

const LIMIT = 65_536

/** Adds a root to the file, unless it is there. Without such a file this does nothing. Never throws. */
export function noteRoot(file: string | undefined, root: string): void {
  if (file === undefined || file === '' || root.includes('\n') || notedRoots(file).includes(root)) return
  try {
    // Without O_CREAT: only the file that the plugin made.
    const descriptor = fs.openSync(file, fs.constants.O_WRONLY | fs.constants.O_APPEND)
    try {
      fs.writeSync(descriptor, `${root}\n`)
    } finally {
      closeQuietly(descriptor)
    }
  } catch {
    // The marker is found where the host itself tells its folder.
  }
}

/** The roots in the file; none where it cannot be read. */
export function notedRoots(file: string): readonly string[] {
  const read = readSmallFile(file, LIMIT)
  return read.kind === 'text' ? read.text.split('\n').filter((line) => line !== '') : []
}
