import { PostflightError } from '../kernel/errors.ts'
import { known } from '../kernel/json-object.ts'
import { toIsoSeconds } from '../kernel/time.ts'
import { MARKER_MAX_BYTES, type MarkerStep } from './marker.ts'

/** The text of a marker's file, as the store writes it. */

/** The fields of a marker that `postflight create` writes. */
export interface NewMarker {
  readonly id: string
  readonly sessionId: string
  readonly skill: string
  readonly taskNumber: number
  readonly operation: string
  readonly reason: string
  readonly createdMs: number
  readonly hostSession?: string | undefined
  readonly ownerFrom?: string | undefined
  readonly agent?: string | undefined
  readonly agentType?: string | undefined
  readonly steps?: readonly MarkerStep[] | undefined
  /** The checks as the file holds them. */
  readonly checks?: readonly object[] | undefined
}

/** The fields of a new marker as the file holds them, in the order in which people read them. */
export function newMarkerFields(marker: NewMarker): Record<string, unknown> {
  return known({
    id: marker.id,
    session_id: marker.sessionId,
    skill: marker.skill,
    task_number: marker.taskNumber,
    operation: marker.operation,
    reason: marker.reason,
    created: toIsoSeconds(marker.createdMs),
    stop_hook_active: false,
    cc_session_id: marker.hostSession,
    owner_from: marker.ownerFrom,
    agent_id: marker.agent,
    agent_type: marker.agentType,
    steps: marker.steps?.length ? marker.steps : undefined,
    checks: marker.checks?.length ? marker.checks : undefined,
  })
}

/**
 * The text of a marker's file: indented, or on one line if that would be too long.
 * @throws {PostflightError} `marker-too-large` if it is too long to be read back.
 */
export function formatMarker(fields: Readonly<Record<string, unknown>>): string {
  const text = layouts(fields).find((one) => byteLength(one) <= MARKER_MAX_BYTES)
  if (text === undefined) throw new PostflightError('marker-too-large', { limit: MARKER_MAX_BYTES })
  return text
}

/** The texts that the fields may have; none if they are nested too deeply for JSON. */
function layouts(fields: Readonly<Record<string, unknown>>): string[] {
  try {
    return [2, 0].map((indent) => `${JSON.stringify(fields, null, indent)}\n`)
  } catch {
    return []
  }
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}

/** The fields with the changes applied. A change to undefined removes the field; unknown fields stay. */
export function withFields(
  fields: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return known({ ...fields, ...changes })
}
