import { MAX_ID_LENGTH } from '../hosts/payload.ts'
import { PostflightError } from '../kernel/errors.ts'
import { closestName, cut, oneLine, QUOTE_LIMIT } from '../kernel/text.ts'
import { invalidValue } from './command.ts'

const VALUE_LIMIT = 2000
const SHOWN_LIMIT = 40

type OptionValues = Readonly<Record<string, string | readonly string[] | undefined>>

export function checkOneLine(options: OptionValues, limit = VALUE_LIMIT): void {
  for (const [option, given] of Object.entries(options)) {
    for (const value of [given ?? []].flat()) {
      if (value.length > limit) {
        throw invalidValue(option, cut(value, SHOWN_LIMIT), `must have at most ${limit} characters`)
      }
      // As JSON, to show line breaks.
      const shown = JSON.stringify(value).slice(1, -1)
      if (value === '' || value !== oneLine(value, limit)) {
        throw invalidValue(option, shown, 'must be one line of text without extra spaces')
      }
    }
  }
}

/** The hook ignores longer ids, so a marker with one would block no stop. */
export function checkIds(options: OptionValues): void {
  checkOneLine(options, MAX_ID_LENGTH)
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
  if (meant === undefined) return
  const detail = `Task "${oneLine(task, QUOTE_LIMIT)}" does not exist: did you mean --${meant}?`
  throw new PostflightError('usage', { detail })
}
