import { isPast } from '../disk/age.ts'
import { errorText } from '../disk/file-facts.ts'
import type { Occasion } from '../hosts/occasion.ts'
import type { Marker } from '../marker/marker.ts'
import { changeMarker } from '../marker/marker-store.ts'
import { waitFields } from '../marker/marker-wait.ts'
import {
  announcesWait,
  claimedIds,
  claimedOwner,
  isClaimedByOutput,
  isMadeByCommand,
  mayAnnounceWait,
  waitingIds,
} from '../marker/owner-claim.ts'
import { markerDisplayPath, type StoredMarker } from '../marker/stored-marker.ts'
import type { Recorded } from '../project/journal-entry.ts'
import { runFileNames } from '../run/store/run-file.ts'
import { type Answered, NOTHING_DONE } from '../stop/answer-for.ts'
import { findMarkers } from '../stop/observe-stop.ts'
import { waitVerdict } from '../stop/rules.ts'
import { NO_TIME_LEFT, ownerNotNoted, waitNotNoted } from '../stop/stop-messages.ts'
import { aboutMarker, waitEndRecord } from '../stop/stop-outcome.ts'
import { loadWorkflowDriver } from './load-workflow.ts'

/**
 * Handles `PostToolUse` of a shell command (docs/design.md, "Ownership" and "Waiting"): the agent owns the promises that
 * its command made, and a wait gets the prompt at which the agent announced it.
 */

/** The changes of one marker after a command. */
interface Changes {
  readonly fields: Readonly<Record<string, unknown>>
  readonly claims: boolean
  /** What the agent waited for, if its wait is over. */
  readonly ended: string | undefined
}

/** Notes the owner of the markers that the payload's command made, and stamps or ends waits. */
export function handleToolUse(occasion: Occasion): Answered {
  const { payload, deadline } = occasion
  if (payload.command === undefined || payload.session === undefined) return NOTHING_DONE
  const { markers, problems } = findMarkers(occasion.roots)
  const recorded: Recorded[] = []
  const complaints: string[] = []
  const complain = (path: string, detail: string): void => {
    complaints.push(ownerNotNoted(path, detail))
  }
  const decide = decisionFor(
    occasion,
    markers.filter((read) => read.kind === 'marker'),
  )
  // An unreadable marker matters only to a command that may have made one.
  const isToldOfProblems = payload.output?.includes('pf_') === true
  if (isToldOfProblems) for (const { path, detail } of problems) complain(path, detail)
  for (const stored of markers) {
    const { folder } = stored
    if (stored.kind !== 'marker') {
      if (isToldOfProblems) complain(markerDisplayPath(folder), stored.detail)
      continue
    }
    const intended = decide(stored, stored.marker)
    if (intended === undefined) continue
    // A marker whose lock another process holds takes a second, and the answer has a time limit.
    if (isPast(deadline)) {
      complain(markerDisplayPath(folder), NO_TIME_LEFT)
      break
    }
    try {
      const { plan, marker } = changeMarker(folder, (present) => decide(stored, present), { patience: 'hook' })
      if (plan === undefined) continue
      if (plan.claims) {
        recorded.push({ root: folder.root, entry: { event: 'claim', ...aboutMarker(folder, marker, payload) } })
      }
      if (plan.ended !== undefined) recorded.push(waitEndRecord(folder, marker, payload, plan.ended))
    } catch (error) {
      const note = intended.claims ? ownerNotNoted : waitNotNoted
      complaints.push(note(markerDisplayPath(folder), errorText(error)))
    }
  }
  const runs = updateRunWaits(occasion)
  return {
    ...NOTHING_DONE,
    recorded: [...recorded, ...runs.recorded],
    complaints: [...complaints, ...runs.complaints],
  }
}

/** Stamps or ends the waits of runs, if the command may have announced one and a run is active. */
function updateRunWaits(occasion: Occasion): Pick<Answered, 'recorded' | 'complaints'> {
  const busy = mayAnnounceWait(occasion.payload) ? occasion.roots.filter((root) => runFileNames(root).length > 0) : []
  if (busy.length === 0) return NOTHING_DONE
  try {
    return loadWorkflowDriver().updateRunWaits(busy, occasion)
  } catch (error) {
    return { recorded: [], complaints: busy.map((root) => waitNotNoted(root, errorText(error))) }
  }
}

/** The changes of a marker, from its file as it was found and its content as it is now. */
type Decide = (stored: StoredMarker, present: Marker) => Changes | undefined

function decisionFor(occasion: Occasion, markers: readonly StoredMarker[]): Decide {
  const { payload } = occasion
  const claimed = claimedIds(payload.output)
  const waiting = waitingIds(payload.output)
  // A command that printed one line has printed all of them: other markers from that time belong to another agent.
  const made = claimed.size > 0 ? [] : markers.filter(({ marker, times }) => isMadeByCommand(marker, times, occasion))
  return (stored, present) => {
    const claims =
      isClaimedByOutput(present, stored.times, occasion, claimed) ||
      (made.length === 1 && made[0] === stored && isMadeByCommand(present, stored.times, occasion))
    const owned = claims ? { ...present, hostSession: payload.session as string } : present
    const announces = announcesWait({ id: present.id, changedMs: stored.times.changedMs }, occasion, waiting)
    const verdict = waitVerdict(owned, occasion, announces ? 'announcement' : 'command', Date.now())
    const changes = verdict && waitFields(verdict)
    if (!claims && changes === undefined) return undefined
    const ended = verdict?.kind === 'ends' ? present.wait?.for : undefined
    return { fields: { ...(claims && claimedOwner(present, payload)), ...changes }, claims, ended }
  }
}
