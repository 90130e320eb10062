import { PostflightError } from '../core/errors.ts'
import { MAX_ID_LENGTH } from '../core/payload.ts'
import { cut, oneLine } from '../core/text.ts'

/** What may stand behind an option. */

/** An option and its value; undefined where it was not given. */
type OptionValue = readonly [option: string, value: string | undefined]

/** Longer values (characters) are refused. */
const VALUE_LIMIT = 2000
/** As much (characters) is shown of a value that is too long. */
const SHOWN_LIMIT = 40

/**
 * Refuses option values that are empty or no line of text, as an unset variable would give, or longer than `limit`.
 * @throws {PostflightError} `value-invalid`.
 */
export function checkOneLine(values: readonly OptionValue[], limit = VALUE_LIMIT): void {
  for (const [option, value] of values) {
    if (value === undefined) continue
    if (value.length > limit) {
      const expected = `must have at most ${limit} characters`
      throw new PostflightError('value-invalid', { option, value: cut(value, SHOWN_LIMIT), expected })
    }
    if (value === '' || value !== oneLine(value, limit)) {
      throw new PostflightError('value-invalid', { option, value, expected: 'must be one line of text' })
    }
  }
}

/**
 * Refuses what no host would give as an id: the hook takes no longer one for an id, so such a promise would hold nobody.
 * @throws {PostflightError} `value-invalid`.
 */
export function checkIds(values: readonly OptionValue[]): void {
  checkOneLine(values, MAX_ID_LENGTH)
}
