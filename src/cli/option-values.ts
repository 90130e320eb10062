import { PostflightError } from '../core/errors.ts'
import { oneLine } from '../core/text.ts'

/** What may stand behind an option. */

/** Longer values (characters) are refused. */
const VALUE_LIMIT = 2000

/**
 * Refuses option values that are empty or no line of text, as an unset variable would give.
 * @throws {PostflightError} `value-invalid`.
 */
export function checkOneLine(values: readonly (readonly [string, string | undefined])[]): void {
  for (const [option, value] of values) {
    if (value === undefined) continue
    if (value === '' || value !== oneLine(value, VALUE_LIMIT)) {
      throw new PostflightError('value-invalid', { option, value, expected: 'must be one line of text' })
    }
  }
}
