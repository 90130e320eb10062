import { errorMessage } from '../kernel/error-messages.ts'
import { PostflightError } from '../kernel/errors.ts'

/** Reads the errors of file-system calls. */

/** The code of a file-system error (`ENOENT`), or its message. */
export function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message
}

/** The sentence of a PostflightError, or the code of any other error: the reason inside a notice. */
export function errorText(error: unknown): string {
  return error instanceof PostflightError ? errorMessage(error.code, error.args) : errorCode(error)
}

/** True when the error says that nothing lies at the path. */
export function isAbsent(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** True when the error says that the disk, or the user's share of it, has no room: no blocks or no inodes. */
export function isFull(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'ENOSPC' || code === 'EDQUOT'
}
