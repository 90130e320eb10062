import path from 'node:path'
import { kindAt } from '../disk/file-facts.ts'
import { sha256 } from '../disk/ids.ts'
import { readSmallFile } from '../disk/read.ts'
import { FILE_DETAILS } from '../kernel/file-messages.ts'
import { DONE_FILE, SPECS_FOLDER } from '../kernel/files.ts'

/** `specs/done.yaml` as bytes. The hook compares them with the trusted ones, and parses no YAML. */

/** In bytes. */
const DONE_FILE_LIMIT = 1_048_576

export type DoneFile =
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable'; readonly detail: string }
  | { readonly kind: 'text'; readonly text: string; readonly hash: string }

export function doneFilePath(root: string): string {
  return path.join(root, SPECS_FOLDER, DONE_FILE)
}

/** Never throws. */
export function hasDoneFile(root: string): boolean {
  try {
    return kindAt(doneFilePath(root)) !== undefined
  } catch {
    return false
  }
}

/** Never throws, never follows a link. */
export function readDoneFile(root: string): DoneFile {
  const read = readSmallFile(doneFilePath(root), DONE_FILE_LIMIT)
  if (read.kind !== 'text') return read
  if (!read.whole) return { kind: 'unreadable', detail: FILE_DETAILS.tooLarge }
  return { kind: 'text', text: read.text, hash: sha256(read.text) }
}
