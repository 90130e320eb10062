import { birthMs } from '../disk/file-identity.ts'
import { sessionTranscript } from '../hosts/index.ts'
import type { Payload } from '../hosts/payload.ts'
import type { Environment } from '../kernel/environment.ts'

/** The time at which the payload's session began, in ms since the epoch; undefined if it is unknown. */
export function sessionBirthMs(payload: Payload, environment: Environment): number | undefined {
  const transcript = sessionTranscript(payload, environment)
  return transcript === undefined ? undefined : birthMs(transcript)
}
