import { isMarkerId } from '../project/task-folder.ts'
import type { Marker } from './marker.ts'

/** At most this many characters of a session id tell promises apart. */
const SESSION_LENGTH = 120

/**
 * A line that tells a promise from every other one in its folder, whatever is rewritten in its marker: the id, or the time
 * and the session of its creation. Undefined for a marker with neither id nor `created`: skills write such a marker with
 * the same bytes again and again.
 */
export function promiseKey({ id, createdMs, sessionId = '' }: Marker): string | undefined {
  if (isMarkerId(id)) return id
  return createdMs === undefined ? undefined : `${createdMs} ${JSON.stringify(sessionId.slice(0, SESSION_LENGTH))}`
}
