import { PostflightError } from '../core/errors.ts'
import { OPTION_EXPECTATIONS } from '../core/messages/usage.ts'

/** The option `--timeout` of the commands that run checks. */

/** Its default. */
export const CHECK_SECONDS = '600'

/** A number of seconds in ms. @throws {PostflightError} `value-invalid`. */
export function milliseconds(option: string, value: string): number {
  if (!/^0*[1-9]\d{0,5}$/.test(value)) {
    throw new PostflightError('value-invalid', { option, value, expected: OPTION_EXPECTATIONS.seconds })
  }
  return Number(value) * 1000
}
