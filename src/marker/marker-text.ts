import { PostflightError } from '../kernel/errors.ts'
import { toIsoSeconds } from '../kernel/time.ts'
import { known } from '../kernel/values.ts'
import { MARKER_MAX_BYTES, type MarkerStep } from './marker.ts'

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
  readonly checks?: readonly object[] | undefined
}

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

/** On one line if it would be too long indented. */
export function formatMarker(fields: Readonly<Record<string, unknown>>): string {
  const text = layouts(fields).find((one) => byteLength(one) <= MARKER_MAX_BYTES)
  if (text === undefined) throw new PostflightError('marker-too-large', { limit: MARKER_MAX_BYTES })
  return text
}

/** None if nested too deeply for JSON. */
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

export function withFields(
  fields: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return known({ ...fields, ...changes })
}
