import fs from 'node:fs'
import { closeQuietly } from '../disk/file-facts.ts'
import { readSmallFile } from '../disk/read.ts'

/**
 * OpenCode does not report the folder of `cd ../worktree && postflight create …`: its plugin makes a file per
 * conversation, to which the CLI adds its root.
 */

export const ROOTS_FILE_VARIABLE = 'POSTFLIGHT_ROOTS_FILE'

const LIMIT = 65_536

/** Never throws. */
export function noteRoot(file: string | undefined, root: string): void {
  if (file === undefined || file === '' || root.includes('\n') || notedRoots(file).includes(root)) return
  try {
    // Without O_CREAT: only the plugin's own file.
    const descriptor = fs.openSync(file, fs.constants.O_WRONLY | fs.constants.O_APPEND)
    try {
      fs.writeSync(descriptor, `${root}\n`)
    } finally {
      closeQuietly(descriptor)
    }
  } catch {
    // The host may still report the root.
  }
}

export function notedRoots(file: string): readonly string[] {
  const read = readSmallFile(file, LIMIT)
  return read.kind === 'text' ? read.text.split('\n').filter((line) => line !== '') : []
}
