import type { Recorded } from '../core/journal-entry.ts'
import { isMarkerId, MAIN_AGENT, type Marker } from '../core/marker.ts'
import { ownerNotNoted } from '../core/messages/stops.ts'
import type { Payload } from '../core/payload.ts'
import { NOTHING_TO_REPORT } from '../core/stop/answer-for.ts'
import { aboutMarker } from '../core/stop/outcome.ts'
import { isFromBefore, isUnowned } from '../core/stop/rules.ts'
import { markerDisplayPath } from '../core/stored-marker.ts'
import { errorText } from '../io/fs/errors.ts'
import { changeMarker } from '../io/marker-store.ts'
import { isPast } from '../io/process/age.ts'
import { type FoundMarkers, findMarkers } from '../io/stop/observe.ts'
import { sessionBirthMs } from '../io/stop/session-birth.ts'
import type { HookContext, HookResult } from './context.ts'

/**
 * Ownership (docs/design.md, "Ownership"): a host's shell does not always say which agent it runs for, its `PostToolUse`
 * does. The agent that ran the command that printed a marker's id is the marker's owner.
 */

const NOTHING_FOUND: FoundMarkers = { markers: [], problems: [] }

/** Gives the markers that the payload's command printed to the payload's agent. */
export function handleToolUse(context: HookContext): HookResult {
  const { payload, environment, deadline } = context
  const recorded: Recorded[] = []
  const complaints: string[] = []
  // Without an id in the output there is nothing to look for.
  const { markers, problems } = payload.output?.includes('pf_') ? findMarkers(context.roots) : NOTHING_FOUND
  const complain = (path: string, detail: string): void => {
    complaints.push(ownerNotNoted(path, detail))
  }
  for (const problem of problems) complain(problem.path, problem.detail)
  const sessionBornMs = markers.length === 0 ? undefined : sessionBirthMs(payload, environment)
  for (const stored of markers) {
    const { folder } = stored
    // One that another process does not let go of takes its time, and the answer has a limit.
    if (isPast(deadline)) {
      complain(markerDisplayPath(folder), 'there was no time left')
      break
    }
    if (stored.kind !== 'marker') complain(markerDisplayPath(folder), stored.detail)
    if (stored.kind !== 'marker' || !isClaimedBy(stored.marker, payload)) continue
    // A command may print the id of a marker that a clone brought: it did not make that one.
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
 * Only an owner that is not known yet is filled in: `inspect` prints ids too, and looking does not take a promise over.
 * A marker without a session is bound only by the command that made it, for the same reason.
 */
function isClaimedBy(marker: Marker, payload: Payload): boolean {
  if (!isMarkerId(marker.id) || marker.agent !== undefined || payload.session === undefined) return false
  // Made by one agent for others, of that type: its maker is not the owner.
  if (marker.agentType !== undefined && marker.agentType !== payload.agentType) return false
  if (!payload.output?.includes(marker.id)) return false
  return isUnowned(marker) ? /\b(?:create|adopt)\b/.test(payload.command ?? '') : marker.hostSession === payload.session
}
