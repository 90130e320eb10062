import type * as z from 'zod/mini'
import { unknownField } from './text.ts'
import { valueAt } from './values.ts'
import type { FaultPath } from './yaml-text.ts'

/** Turns a schema's findings about a file or an option into sentences. */

type Issue = z.core.$ZodIssue

export interface SchemaFault {
  readonly path: FaultPath
  /** Unknown fields of the object at `path`. */
  readonly field?: string
  readonly detail: string
}

/** The schema's own message is used if there are no words for a fault. */
export interface FaultWords {
  readonly fieldsAt: (path: FaultPath) => readonly string[]
  readonly kinds: (kinds: readonly string[], isMissing: boolean) => string
  readonly values: (values: readonly string[]) => string
  readonly atLeast?: (size: number | bigint, origin: string) => string
  readonly atMost?: (size: number | bigint, origin: string) => string
}

export function schemaFaults(value: unknown, issues: readonly Issue[], words: FaultWords, most: number) {
  const faults = issues.slice(0, most).flatMap((issue) => issueFaults(value, issue, words, most, []))
  return faults.slice(0, most)
}

function issueFaults(whole: unknown, issue: Issue, words: FaultWords, most: number, base: FaultPath): SchemaFault[] {
  const path = [...base, ...(issue.path as FaultPath)]
  const isMissing = valueAt(whole, path) === undefined
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys
        .slice(0, most)
        .map((field) => ({ path, field, detail: unknownField(field, words.fieldsAt(path)) }))
    case 'invalid_type':
      return [{ path, detail: words.kinds([issue.expected], isMissing) }]
    case 'invalid_value':
      return [{ path, detail: words.values(issue.values.map(String)) }]
    case 'invalid_union': {
      const nearest = nearestOf(issue)
      if (nearest !== undefined) return nearest.flatMap((inner) => issueFaults(whole, inner, words, most, path))
      const kinds = issue.errors.flat().map((inner) => (inner as z.core.$ZodIssueInvalidType).expected)
      return [{ path, detail: words.kinds(kinds, false) }]
    }
    case 'too_small':
      return [{ path, detail: words.atLeast?.(issue.minimum, issue.origin) ?? issue.message }]
    case 'too_big':
      return [{ path, detail: words.atMost?.(issue.maximum, issue.origin) ?? issue.message }]
    default:
      return [{ path, detail: issue.message }]
  }
}

/** The issues of the variant that fits the value best: of its type, with the fewest unknown fields. */
function nearestOf({ errors }: z.core.$ZodIssueInvalidUnion): Issue[] | undefined {
  const unknownKeys = (issues: readonly Issue[]): number =>
    issues.reduce((sum, inner) => sum + (inner.code === 'unrecognized_keys' ? inner.keys.length : 0), 0)
  return errors
    .filter((one) => !one.some((inner) => inner.code === 'invalid_type' && inner.path.length === 0))
    .sort((one, other) => unknownKeys(one) - unknownKeys(other))[0]
}

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  int: 'a whole number',
  object: 'an object',
  record: 'an object',
}

export function kindName(kind: string): string {
  return KINDS[kind] ?? `a ${kind}`
}
