import type { Environment } from '../../core/hosts/host.ts'
import { sessionTranscript } from '../../core/hosts/index.ts'
import type { Payload } from '../../core/payload.ts'
import { birthMs } from '../fs/file-identity.ts'

/** The time at which the payload's session began, in ms since the epoch; undefined if it is unknown. */
export function sessionBirthMs(payload: Payload, environment: Environment): number | undefined {
  const transcript = sessionTranscript(payload, environment)
  return transcript === undefined ? undefined : birthMs(transcript)
}
