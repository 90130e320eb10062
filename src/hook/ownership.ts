import type { Recorded } from '../core/journal-entry.ts'
import { isMarkerId, MAIN_AGENT, type Marker } from '../core/marker.ts'
import { NO_TIME_LEFT, ownerNotNoted } from '../core/messages/stops.ts'
import type { Payload } from '../core/payload.ts'
import { NOTHING_TO_REPORT } from '../core/stop/answer-for.ts'
import { aboutMarker } from '../core/stop/outcome.ts'
import { isFromBefore, isUnowned } from '../core/stop/rules.ts'
import { markerDisplayPath } from '../core/stored-marker.ts'
import { errorText } from '../io/fs/errors.ts'
import { changeMarker } from '../io/marker-store.ts'
import { isPast } from '../io/process/age.ts'
import { type FoundMarkers, findMarkers } from '../io/stop/observe.ts'
import type { HookContext, HookResult } from './context.ts'

/**
 * Handles `PostToolUse` (docs/design.md, "Ownership"): a host's shell does not always say which agent it runs for, but
 * `PostToolUse` does. The agent whose command printed a marker's id owns the marker.
 */

const NOTHING_FOUND: FoundMarkers = { markers: [], problems: [] }

/** Notes the payload's agent as the owner of the markers whose ids its command printed. */
export function handleToolUse(context: HookContext): HookResult {
  const { payload, deadline, findSessionBirth } = context
  const recorded: Recorded[] = []
  const complaints: string[] = []
  // Without an id in the output there is nothing to search for.
  const { markers, problems } = payload.output?.includes('pf_') ? findMarkers(context.roots) : NOTHING_FOUND
  const complain = (path: string, detail: string): void => {
    complaints.push(ownerNotNoted(path, detail))
  }
  for (const problem of problems) complain(problem.path, problem.detail)
  const sessionBornMs = markers.length === 0 ? undefined : findSessionBirth()
  for (const stored of markers) {
    const { folder } = stored
    // A marker whose lock another process holds takes a second, and the answer has a time limit.
    if (isPast(deadline)) {
      complain(markerDisplayPath(folder), NO_TIME_LEFT)
      break
    }
    if (stored.kind !== 'marker') complain(markerDisplayPath(folder), stored.detail)
    if (stored.kind !== 'marker' || !isClaimedBy(stored.marker, payload)) continue
    // A command may also print the id of a marker that came with a clone.
    if (isFromBefore(sessionBornMs, stored.marker, stored.times)) continue
    try {
      const { plan, marker } = changeMarker(
        folder,
        (present) => (isClaimedBy(present, payload) ? { fields: ownerFields(payload) } : undefined),
        {
          patience: 'hook',
        },
      )
      if (plan === undefined) continue
      recorded.push({ root: folder.root, entry: { event: 'claim', ...aboutMarker(folder, marker, payload) } })
    } catch (error) {
      complain(markerDisplayPath(folder), errorText(error))
    }
  }
  return { report: NOTHING_TO_REPORT, recorded, complaints }
}

function ownerFields(payload: Payload): Record<string, unknown> {
  return { agent_id: payload.agent ?? MAIN_AGENT, cc_session_id: payload.session }
}

/**
 * True when the payload's command makes its agent the owner. An owner that is known stays: `inspect` prints ids too, and
 * does not take a marker over. For the same reason, a marker without a session is bound only by `create` and `adopt`.
 */
function isClaimedBy(marker: Marker, payload: Payload): boolean {
  if (!isMarkerId(marker.id) || marker.agent !== undefined || payload.session === undefined) return false
  // A marker for agents of one type does not belong to the agent of another type that created it.
  if (marker.agentType !== undefined && marker.agentType !== payload.agentType) return false
  if (!payload.output?.includes(marker.id)) return false
  return isUnowned(marker) ? /\b(?:create|adopt)\b/.test(payload.command ?? '') : marker.hostSession === payload.session
}
