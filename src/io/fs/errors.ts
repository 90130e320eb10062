import { PostflightError } from '../../core/errors.ts'
import { errorMessage } from '../../core/messages/errors.ts'

/** What a failed file-system call says. */

/** The code of a file-system error (`ENOENT`), or its message. */
export function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message
}

/** An error in words where it is one of ours, else its code: for a notice, which says what to do. */
export function errorText(error: unknown): string {
  return error instanceof PostflightError ? errorMessage(error.code, error.args) : errorCode(error)
}

/** True when the error says that nothing is there. */
export function isAbsent(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}
