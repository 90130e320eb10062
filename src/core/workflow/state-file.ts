import { isJsonObject } from '../json-object.ts'
import { findPhase } from './definition.ts'
import { objectOf, WRONG, wrongKeys } from './fields.ts'
import type { WorkflowState } from './state.ts'
import { STATE_FIELDS } from './state-fields.ts'

/** The state file of a run: one format for every driver, with snake_case keys. */

/** The version of the format that this code reads and writes. */
const STATE_VERSION = 1

/** The form of a field in the file. */
interface Written {
  readonly key: string
  write(value: unknown): unknown
}

/** The text of a state file. */
export function formatState(state: WorkflowState): string {
  const fields = Object.entries<Written>(STATE_FIELDS).map(([name, { key, write }]) => [
    key,
    write(state[name as keyof WorkflowState]),
  ])
  return `${JSON.stringify({ version: STATE_VERSION, ...Object.fromEntries(fields) })}\n`
}

/** The reason why a state file cannot be used. */
export interface StateProblem {
  readonly code: 'not-json' | 'version' | 'shape'
  readonly detail: string
}

const readState = objectOf(STATE_FIELDS)

/** Reads the text of a state file. It never throws: it returns the problem of an unusable text. */
export function parseState(text: string): WorkflowState | StateProblem {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { code: 'not-json', detail: (error as Error).message }
  }
  if (!isJsonObject(value)) return { code: 'shape', detail: 'object' }
  if (value.version !== STATE_VERSION) return { code: 'version', detail: String(value.version) }
  const state = readState(value)
  if (state === WRONG) return { code: 'shape', detail: wrongKeys(STATE_FIELDS, value).join(', ') }
  return findPhase(state.definition, state.phase) === undefined ? { code: 'shape', detail: 'definition' } : state
}

/** True if `parseState` returned a state. */
export function isState(read: WorkflowState | StateProblem): read is WorkflowState {
  return !('code' in read)
}
