import { PostflightError } from '../core/errors.ts'
import { USAGE_TEXT } from '../core/messages/usage.ts'

/**
 * The value of an option that must be given. commander's `requiredOption` would complain about it before it complains
 * about an option that it does not know: with `--definiton` that would be the wrong complaint.
 * @throws {PostflightError} `usage`.
 */
export function requireOption(option: string, value: string | undefined, command: string): string {
  const help = `postflight ${command} --help`
  if (value === undefined) throw new PostflightError('usage', { detail: USAGE_TEXT.missingOption(option, help) })
  return value
}
