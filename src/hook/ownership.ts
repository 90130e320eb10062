import { ALLOW } from '../core/answer.ts'
import { isUnowned } from '../core/decision.ts'
import { isMarkerId, MAIN_AGENT, type Marker } from '../core/marker.ts'
import type { Payload } from '../core/payload.ts'
import { inLine } from '../core/text.ts'
import { errorText } from '../io/fs/errors.ts'
import type { Recorded } from '../io/journal.ts'
import { cameWithClone, findMarkers } from '../io/judge.ts'
import { markerDisplayPath } from '../io/marker-file.ts'
import { changeMarker } from '../io/marker-store.ts'
import { isPast } from '../io/process/age.ts'
import { aboutMarker } from '../io/settle.ts'
import type { HookContext, HookResult } from './context.ts'

/**
 * Ownership (DESIGN section 5): a host's shell does not always say which agent it runs for, its `PostToolUse` does.
 * Who ran the command that printed a marker's id is the marker's owner.
 */

const NOTHING_FOUND: ReturnType<typeof findMarkers> = { markers: [], problems: [] }

/** Gives the markers that the payload's command printed to the payload's agent. */
export function answerToolUse(context: HookContext): HookResult {
  const { payload } = context
  const recorded: Recorded[] = []
  const complaints: string[] = []
  // Without an id in the output there is nothing to look for.
  const { markers, problems } = payload.output?.includes('pf_') ? findMarkers(context.roots) : NOTHING_FOUND
  const complain = (path: string, detail: string): void => {
    complaints.push(`postflight-guard: ${inLine(path)}: the owner was not noted (${detail})`)
  }
  for (const problem of problems) complain(problem.path, problem.detail)
  for (const stored of markers) {
    const { folder } = stored
    // One that another process does not let go of takes its time, and the answer has a limit.
    if (isPast(context.deadline)) {
      complain(markerDisplayPath(folder), 'there was no time left')
      break
    }
    if (stored.kind !== 'marker') complain(markerDisplayPath(folder), stored.detail)
    // One that came with a clone was made by nobody here, whatever some command prints.
    if (stored.kind !== 'marker' || !isClaimedBy(stored.marker, payload) || cameWithClone(stored)) continue
    try {
      const claimed = changeMarker(
        folder,
        (marker) => (isClaimedBy(marker, payload) ? ownerFields(payload) : undefined),
        {
          patience: 'hook',
        },
      )
      if (claimed === undefined) continue
      recorded.push({ root: folder.root, entry: { event: 'claim', ...aboutMarker(folder, claimed, payload) } })
    } catch (error) {
      complain(markerDisplayPath(folder), errorText(error))
    }
  }
  return { answer: ALLOW, recorded, complaints }
}

function ownerFields(payload: Payload): Record<string, unknown> {
  return { agent_id: payload.agent ?? MAIN_AGENT, cc_session_id: payload.session }
}

/**
 * Only an owner that is not known yet is filled in: `inspect` prints ids too, and whoever looks does not take over. A
 * marker without a session is bound only by the command that made it, for the same reason.
 */
function isClaimedBy(marker: Marker, payload: Payload): boolean {
  if (!isMarkerId(marker.id) || marker.agent !== undefined || payload.session === undefined) return false
  // Made by one agent for others, of that type: whoever made it is not the owner.
  if (marker.agentType !== undefined && marker.agentType !== payload.agentType) return false
  if (!payload.output?.includes(marker.id)) return false
  return isUnowned(marker) ? /\b(?:create|adopt)\b/.test(payload.command ?? '') : marker.hostSession === payload.session
}
