import { isJsonObject } from '../json-object.ts'
import { findPhase } from './definition.ts'
import { objectOf, WRONG, wrongKeys } from './fields.ts'
import type { WorkflowState } from './state.ts'
import { STATE_FIELDS } from './state-fields.ts'

/** The state of a run as it lies on disk: one format for every driver. In the file snake_case, in the code camelCase. */

/** The format that this version reads and writes. */
const STATE_VERSION = 1

/** How the file holds a field. */
interface Written {
  readonly key: string
  write(value: unknown): unknown
}

/** The state's text on disk. */
export function formatState(state: WorkflowState): string {
  const fields = Object.entries<Written>(STATE_FIELDS).map(([name, { key, write }]) => [
    key,
    write(state[name as keyof WorkflowState]),
  ])
  return `${JSON.stringify({ version: STATE_VERSION, ...Object.fromEntries(fields) })}\n`
}

/** Why a state file cannot be used. */
export interface StateProblem {
  readonly code: 'not-json' | 'version' | 'shape'
  readonly detail: string
}

const readState = objectOf(STATE_FIELDS)

/** Reads a state file's text. Never throws: it names what it cannot use. */
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

/** True for what `parseState` could use. */
export function isState(read: WorkflowState | StateProblem): read is WorkflowState {
  return !('code' in read)
}
