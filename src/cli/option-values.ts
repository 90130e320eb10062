import { MAX_ID_LENGTH } from '../hosts/payload.ts'
import { PostflightError } from '../kernel/errors.ts'
import { closestName, cut, oneLine } from '../kernel/text.ts'
import { OPTION_EXPECTATIONS, USAGE_TEXT } from './command.ts'

type OptionValue = readonly [option: string, value: string | undefined]

const VALUE_LIMIT = 2000
const SHOWN_LIMIT = 40

export function checkOneLine(values: readonly OptionValue[], limit = VALUE_LIMIT): void {
  for (const [option, value] of values) {
    if (value === undefined) continue
    if (value.length > limit) {
      const expected = OPTION_EXPECTATIONS.atMostCharacters(limit)
      throw new PostflightError('value-invalid', { option, value: cut(value, SHOWN_LIMIT), expected })
    }
    if (value === '' || value !== oneLine(value, limit)) {
      // As JSON, to show line breaks.
      const shown = JSON.stringify(value).slice(1, -1)
      throw new PostflightError('value-invalid', { option, value: shown, expected: OPTION_EXPECTATIONS.oneLine })
    }
  }
}

/** The hook ignores longer ids, so a marker with one would block no stop. */
export function checkIds(values: readonly OptionValue[]): void {
  checkOneLine(values, MAX_ID_LENGTH)
}

export function requireOneTarget(task: string | undefined, options: Readonly<Record<string, boolean>>): void {
  const names = Object.keys(options).map((name) => `--${name}`)
  const given = Object.values(options).filter(Boolean).length + (task === undefined ? 0 : 1)
  if (given === 0) throw new PostflightError('target-missing', { options: names.join(', ') })
  if (given > 1) throw new PostflightError('target-twice', { options: names.join(', ') })
}

/** `clear all` would do nothing. */
export function refuseOptionAsTask(task: string, options: readonly string[]): void {
  const meant = closestName(task.toLowerCase(), options)
  if (meant !== undefined) throw new PostflightError('usage', { detail: USAGE_TEXT.meantOption(task, `--${meant}`) })
}
