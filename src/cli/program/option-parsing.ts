import { PostflightError } from '../../kernel/errors.ts'
import { OPTION_EXPECTATIONS, USAGE_TEXT } from '../usage-messages.ts'

/** Reads the options of a command line, as far as commander does not. */

/** The default of `--timeout`, in the commands that run checks. */
export const CHECK_SECONDS = '600'

/** The largest value of `--timeout`: 11 days. */
const MAX_SECONDS = 999_999

/** The value of `--timeout` in ms. @throws {PostflightError} `value-invalid`. */
export function timeoutMs(value: string): number {
  if (!/^\d+$/.test(value) || Number(value) < 1 || Number(value) > MAX_SECONDS) {
    const expected = OPTION_EXPECTATIONS.seconds(MAX_SECONDS)
    throw new PostflightError('value-invalid', { option: '--timeout', value, expected })
  }
  return Number(value) * 1000
}

/** Collects the values of an option that can be repeated. */
export function collect(value: string, previous: readonly string[]): string[] {
  return [...previous, value]
}

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
