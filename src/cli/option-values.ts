import { MAX_ID_LENGTH } from '../hosts/payload.ts'
import { closestName } from '../kernel/closest-name.ts'
import { PostflightError } from '../kernel/errors.ts'
import { cut, oneLine } from '../kernel/text.ts'
import { OPTION_EXPECTATIONS, USAGE_TEXT } from './usage-messages.ts'

/** Checks the values of options. */

/** An option and its value. Undefined means not given. */
type OptionValue = readonly [option: string, value: string | undefined]

/** Longer values (characters) are refused. */
const VALUE_LIMIT = 2000
/** An error shows this many characters of a value that is too long. */
const SHOWN_LIMIT = 40

/**
 * Refuses option values that are empty (an unset variable), hold more than one line, or are longer than `limit`.
 * @throws {PostflightError} `value-invalid`.
 */
export function checkOneLine(values: readonly OptionValue[], limit = VALUE_LIMIT): void {
  for (const [option, value] of values) {
    if (value === undefined) continue
    if (value.length > limit) {
      const expected = OPTION_EXPECTATIONS.atMostCharacters(limit)
      throw new PostflightError('value-invalid', { option, value: cut(value, SHOWN_LIMIT), expected })
    }
    if (value === '' || value !== oneLine(value, limit)) {
      throw new PostflightError('value-invalid', { option, value, expected: OPTION_EXPECTATIONS.oneLine })
    }
  }
}

/**
 * Refuses values that cannot be a host's id. The hook ignores longer ids, so a marker with one would block no stop.
 * @throws {PostflightError} `value-invalid`.
 */
export function checkIds(values: readonly OptionValue[]): void {
  checkOneLine(values, MAX_ID_LENGTH)
}

/**
 * Checks that exactly one target is given: `<task>`, or one of the options that select several tasks.
 * @throws {PostflightError} `target-missing`, `target-twice`.
 */
export function requireOneTarget(task: string | undefined, options: Readonly<Record<string, boolean>>): void {
  const names = Object.keys(options).map((name) => `--${name}`)
  const given = Object.values(options).filter(Boolean).length + (task === undefined ? 0 : 1)
  if (given === 0) throw new PostflightError('target-missing', { options: names.join(', ') })
  if (given > 1) throw new PostflightError('target-twice', { options: names.join(', ') })
}

/**
 * Refuses a task without a folder whose name resembles one of the options: `clear all` would do nothing.
 * @throws {PostflightError} `usage`.
 */
export function refuseOptionAsTask(task: string, options: readonly string[]): void {
  const meant = closestName(task.toLowerCase(), options)
  if (meant !== undefined) throw new PostflightError('usage', { detail: USAGE_TEXT.meantOption(task, `--${meant}`) })
}
