import type * as z from 'zod/mini'
import { counted, unknownField } from './text.ts'
import { valueAt } from './values.ts'
import type { FaultPath, Finding } from './yaml-text.ts'

/** Turns a schema's findings about a file or an option into sentences. */

type Issue = z.core.$ZodIssue

/** Finds at most `most` faults. In an option, an unknown field is a fault of its object, and `it` begins the sentences. */
export function readBy<T>(
  schema: z.ZodMiniType<T>,
  value: unknown,
  kind: 'file' | 'option',
  most: number,
): { value: T } | { faults: [Finding, ...Finding[]] } {
  const read = schema.safeParse(value)
  if (read.success) return { value: read.data }
  const faultsOf = (issue: Issue, base: FaultPath = []): Finding[] => {
    const path = [...base, ...(issue.path as FaultPath)]
    const fault = (says: string): Finding[] => [{ path, detail: kind === 'file' ? says : `it ${says}` }]
    switch (issue.code) {
      case 'unrecognized_keys': {
        const known = fieldsAt(schema, path)
        const place = (field: string): FaultPath => (kind === 'file' ? [...path, field] : path)
        return issue.keys.slice(0, most).map((field) => ({ path: place(field), detail: unknownField(field, known) }))
      }
      case 'invalid_type':
        return fault(
          `${valueAt(value, path) === undefined ? 'is missing, and ' : ''}must be ${kindName(issue.expected)}`,
        )
      case 'invalid_value':
        return fault(
          `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map((one) => JSON.stringify(one)).join(', ')}`,
        )
      case 'invalid_union': {
        const nearest = nearestOf(issue)
        if (nearest !== undefined) return nearest.flatMap((inner) => faultsOf(inner, path))
        const kinds = issue.errors.flat().map((inner) => kindName((inner as z.core.$ZodIssueInvalidType).expected))
        return fault(`must be ${[...new Set(kinds)].join(' or ')}`)
      }
      case 'too_small':
        return fault(`must ${sizeWords('at least', issue.minimum, issue.origin)}`)
      case 'too_big':
        return fault(`must ${sizeWords('at most', issue.maximum, issue.origin)}`)
      default:
        // The schema's own. Zod's messages depend on the process: OpenCode's zod sets those of ours too (1.18.34).
        return [{ path, detail: issue.message }]
    }
  }
  const faults = read.error.issues.slice(0, most).flatMap((issue) => faultsOf(issue))
  return { faults: faults.slice(0, most) as [Finding, ...Finding[]] }
}

/** The fields that a value at this path may have; of a union those of all its forms. */
function fieldsAt(schema: z.core.$ZodType | undefined, path: FaultPath): string[] {
  const { def } = (schema as z.core.$ZodTypes | undefined)?._zod ?? {}
  const [key, ...rest] = path
  if (def?.type === 'optional') return fieldsAt(def.innerType, path)
  if (def?.type === 'union') return def.options.flatMap((one) => fieldsAt(one, path))
  if (def?.type === 'object') return key === undefined ? Object.keys(def.shape) : fieldsAt(def.shape[key], rest)
  if (def?.type === 'array' && key !== undefined) return fieldsAt(def.element, rest)
  return def?.type === 'record' && key !== undefined ? fieldsAt(def.valueType, rest) : []
}

/** The best variant has the value's type and the fewest unknown fields. */
function nearestOf({ errors }: z.core.$ZodIssueInvalidUnion): Issue[] | undefined {
  const unknownKeys = (issues: readonly Issue[]): number =>
    issues.reduce((sum, inner) => sum + (inner.code === 'unrecognized_keys' ? inner.keys.length : 0), 0)
  return errors
    .filter((one) => !one.some((inner) => inner.code === 'invalid_type' && inner.path.length === 0))
    .sort((one, other) => unknownKeys(one) - unknownKeys(other))[0]
}

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  object: 'an object',
  record: 'an object',
}

function kindName(kind: string): string {
  return KINDS[kind] ?? `a ${kind}`
}

function sizeWords(bound: string, size: number | bigint, origin: string): string {
  if (origin === 'string') return `be ${bound} ${counted(size, 'character')} long`
  return origin === 'array' ? `have ${bound} ${counted(size, 'entry', 'entries')}` : `be ${bound} ${size}`
}
