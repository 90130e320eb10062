import type * as z from 'zod/mini'
import type { OptionFault } from '../hosts/opencode/opencode-messages.ts'

/** The first fault that zod found. */
export function optionFault({ issues }: z.core.$ZodError): OptionFault {
  const [issue] = issues
  const path = (issue?.path ?? []).map(String)
  switch (issue?.code) {
    case 'unrecognized_keys':
      return { path, fault: { kind: 'unknown', name: issue.keys[0] ?? '' } }
    case 'invalid_type':
      return { path, fault: { kind: 'type', wanted: issue.expected } }
    case 'invalid_value':
      return { path, fault: { kind: 'value', values: issue.values } }
    case 'too_small':
      return {
        path,
        fault: {
          kind: 'too-small',
          least: issue.minimum,
          isLength: issue.origin !== 'number' && issue.origin !== 'int',
        },
      }
    default:
      return { path, fault: { kind: 'other', text: issue?.message ?? '' } }
  }
}
