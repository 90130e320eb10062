import { isJsonObject } from '../../kernel/values.ts'
import { END, MAX_CASE_LENGTH } from './definition-limits.ts'
import { objectOf, optional, type Reader, text, type Values, WRONG } from './fields.ts'

const targets: Reader<Readonly<Record<string, string>>> = (value) =>
  isJsonObject(value) && Object.values(value).every((one) => typeof one === 'string')
    ? (value as Readonly<Record<string, string>>)
    : WRONG

export const NEXT_FIELDS = {
  pass: { key: 'pass', read: text },
  fail: { key: 'fail', read: text },
  verdict: { key: 'verdict', read: optional(text) },
  reason: { key: 'reason', read: optional(text) },
  cases: { key: 'cases', read: optional(targets) },
  otherwise: { key: 'default', read: optional(text) },
}

export interface Next extends Values<typeof NEXT_FIELDS> {}

export const readNext = objectOf(NEXT_FIELDS)

export function targetsOf({ pass, fail, cases, otherwise }: Next): string[] {
  const all =
    cases === undefined ? [pass, fail] : [...Object.values(cases), ...(otherwise === undefined ? [] : [otherwise])]
  return [...new Set(all)]
}

export function targetAfter({ pass, fail, cases, otherwise }: Next, verdict: string | undefined): string {
  if (cases === undefined) return verdict === 'fail' ? fail : pass
  const chosen = verdict !== undefined && Object.hasOwn(cases, verdict) ? cases[verdict] : otherwise
  return chosen ?? END
}

export function isFailing({ cases }: Next, verdict: string | undefined): boolean {
  return cases === undefined && verdict === 'fail'
}

export function verdictOf({ cases, otherwise }: Next, value: unknown): string | undefined {
  if (cases === undefined) {
    if (value === true || value === 'pass') return 'pass'
    return value === false || value === 'fail' ? 'fail' : undefined
  }
  if (!['string', 'number', 'boolean'].includes(typeof value)) return undefined
  const name = String(value).slice(0, MAX_CASE_LENGTH)
  return Object.hasOwn(cases, name) || otherwise !== undefined ? name : undefined
}
