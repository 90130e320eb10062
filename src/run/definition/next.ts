import { isJsonObject } from '../../kernel/json-object.ts'
import { END, MAX_CASE_LENGTH } from './definition-limits.ts'
import { objectOf, optional, type Reader, text, type Values, WRONG } from './fields.ts'

/** The ways out of a phase. */

const targets: Reader<Readonly<Record<string, string>>> = (held) =>
  isJsonObject(held) && Object.values(held).every((one) => typeof one === 'string')
    ? (held as Readonly<Record<string, string>>)
    : WRONG

/** The phases that may follow a phase. */
export const NEXT_FIELDS = {
  pass: { key: 'pass', read: text },
  fail: { key: 'fail', read: text },
  /** A JSON pointer into the artifact; undefined if there is one way only. */
  verdict: { key: 'verdict', read: optional(text) },
  /** A JSON pointer to the reason for the verdict. */
  reason: { key: 'reason', read: optional(text) },
  /** The targets by verdict; undefined where the verdict is a pass or a fail. */
  cases: { key: 'cases', read: optional(targets) },
  /** The target for any other verdict; without it, the artifact is invalid. */
  otherwise: { key: 'default', read: optional(text) },
}

/** The ways out of a phase. */
export interface Next extends Values<typeof NEXT_FIELDS> {}

export const readNext = objectOf(NEXT_FIELDS)

/** The targets of a `next`: ids of phases, or the end. */
export function targetsOf({ pass, fail, cases, otherwise }: Next): string[] {
  const all =
    cases === undefined ? [pass, fail] : [...Object.values(cases), ...(otherwise === undefined ? [] : [otherwise])]
  return [...new Set(all)]
}

/** The phase that follows after a verdict. */
export function targetAfter({ pass, fail, cases, otherwise }: Next, verdict: string | undefined): string {
  if (cases === undefined) return verdict === 'fail' ? fail : pass
  const chosen = verdict !== undefined && Object.hasOwn(cases, verdict) ? cases[verdict] : otherwise
  return chosen ?? END
}

/** True for a verdict that says that the phase's work failed. Cases are neither good nor bad. */
export function isFailing({ cases }: Next, verdict: string | undefined): boolean {
  return cases === undefined && verdict === 'fail'
}

/** The verdict that a value of an artifact is; undefined for a value that is none. */
export function verdictOf({ cases, otherwise }: Next, value: unknown): string | undefined {
  if (cases === undefined) {
    if (value === true || value === 'pass') return 'pass'
    return value === false || value === 'fail' ? 'fail' : undefined
  }
  if (!['string', 'number', 'boolean'].includes(typeof value)) return undefined
  const name = String(value).slice(0, MAX_CASE_LENGTH)
  return Object.hasOwn(cases, name) || otherwise !== undefined ? name : undefined
}
