import path from 'node:path'
import { lookInside, readInside } from '../../disk/inside.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { WORKFLOW_TEXT } from '../run-messages.ts'

/** Reads the files that agents write in a task folder. A fault in one is a result, which the agent can correct. */

/** The value of a JSON file, or its fault in words. */
export type JsonRead =
  | { readonly kind: 'absent' }
  | { readonly kind: 'wrong'; readonly why: string }
  | { readonly kind: 'json'; readonly value: unknown }

/** Reads a JSON file in a task folder. @throws {PostflightError} `file-unreadable` for an error of the system. */
export function readJson(folder: string, name: string, limit: number, look = lookInside): JsonRead {
  const read = readInside(folder, name, limit, look)
  if (read.kind === 'absent') return read
  if (read.kind === 'unreadable') return { kind: 'wrong', why: unreadable(folder, name, read.detail) }
  if (!read.whole) return { kind: 'wrong', why: WORKFLOW_TEXT.tooLarge(name, limit) }
  try {
    return { kind: 'json', value: JSON.parse(read.text.replace(/^\ufeff/, '')) }
  } catch (error) {
    return { kind: 'wrong', why: WORKFLOW_TEXT.notJson(name, (error as Error).message) }
  }
}

/** Why a file cannot be read. @throws {PostflightError} `file-unreadable` for an error of the system. */
export function unreadable(folder: string, name: string, detail: string): string {
  if (isNoFaultOfFile(detail)) {
    throw new PostflightError('file-unreadable', { path: path.join(folder, name), detail })
  }
  return WORKFLOW_TEXT.unreadable(name, detail)
}

/** True for an error of the system (EIO, EMFILE). The agent can correct a file of the wrong kind or without rights. */
function isNoFaultOfFile(detail: string): boolean {
  return /^E[A-Z0-9]+$/.test(detail) && detail !== 'EACCES' && detail !== 'EPERM'
}
