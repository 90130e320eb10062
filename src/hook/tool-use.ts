import { isPast, processAgeMs } from '../disk/age.ts'
import { errorText } from '../disk/file-facts.ts'
import { HOOK_PATIENCE_MS } from '../disk/lock.ts'
import type { Occasion } from '../hosts/payload.ts'
import { FILE_DETAILS } from '../kernel/error-messages.ts'
import type { Marker } from '../marker/marker.ts'
import { changeMarker } from '../marker/marker-store.ts'
import {
  announcesWait,
  idsIn,
  isMadeByCommand,
  isNamedInOutput,
  mayAnnounceWait,
  OWNER_LINE,
  ownerFields,
  WAIT_LINE,
} from '../marker/recorded-owner.ts'
import { markerDisplayPath, type StoredMarker } from '../marker/stored-marker.ts'
import type { Recorded } from '../project/journal-entry.ts'
import { runFileNames } from '../run/store/run-file.ts'
import { type Answered, NOTHING_DONE } from '../stop/answer-for.ts'
import { waitChange } from '../stop/commit.ts'
import { findMarkers } from '../stop/observe-stop.ts'
import { recordOf } from '../stop/plan.ts'
import { notDone } from '../stop/stop-messages.ts'
import { loadWorkflowDriver } from './load-parts.ts'

/** The agent owns the markers of its command (docs/design.md, "Ownership", "Waiting"). */

export function handleToolUse(occasion: Occasion): Answered {
  const { payload, deadline } = occasion
  if (payload.command === undefined || payload.session === undefined) return NOTHING_DONE
  const found = findMarkers(occasion.roots)
  const markers = found.markers.filter((read) => read.kind === 'marker')
  const unreadable = found.markers.filter((read) => read.kind === 'unreadable')
  const recorded: Recorded[] = []
  const complaints: string[] = []
  // An unreadable marker matters only to a command that may have made one.
  if (payload.output?.includes('pf_')) {
    complaints.push(
      ...found.problems.map(({ path, detail }) => notDone('noteOwner', path, detail)),
      ...unreadable.map(({ folder, detail }) => notDone('noteOwner', markerDisplayPath(folder), detail)),
    )
  }
  const decide = decisionFor(occasion, markers)
  for (const stored of markers) {
    const { folder } = stored
    const intended = decide(stored, stored.marker)
    if (intended === undefined) continue
    // A held lock costs a second, and the answer has a time limit.
    if (isPast(deadline)) {
      complaints.push(notDone('noteOwner', markerDisplayPath(folder), FILE_DETAILS.noTimeLeft))
      break
    }
    try {
      const patienceMs = Math.min(HOOK_PATIENCE_MS, (deadline ?? Number.POSITIVE_INFINITY) - processAgeMs())
      const { plan, marker } = changeMarker(folder, (present) => decide(stored, present), { patienceMs })
      if (plan === undefined) continue
      const changed = { folder, marker }
      if (plan.owns) recorded.push(recordOf(changed, payload, { event: 'claim' }))
      if (plan.ended !== undefined) recorded.push(recordOf(changed, payload, { event: 'wait-end', detail: plan.ended }))
    } catch (error) {
      const what = intended.owns ? 'noteOwner' : 'updateWait'
      complaints.push(notDone(what, markerDisplayPath(folder), errorText(error)))
    }
  }
  const runs = updateRunWaits(occasion)
  complaints.push(...runs.failed.map(({ path, detail }) => notDone('updateWait', path, detail)))
  return { ...NOTHING_DONE, recorded: [...recorded, ...runs.recorded], complaints }
}

function updateRunWaits(occasion: Occasion) {
  const busy = mayAnnounceWait(occasion.payload) ? occasion.roots.filter((root) => runFileNames(root).length > 0) : []
  if (busy.length === 0) return { recorded: [], failed: [] }
  try {
    return loadWorkflowDriver().updateRunWaits(busy, occasion)
  } catch (error) {
    return { recorded: [], failed: busy.map((path) => ({ path, detail: errorText(error) })) }
  }
}

function decisionFor(occasion: Occasion, markers: readonly StoredMarker[]) {
  const { payload } = occasion
  const printed = idsIn(payload.output, OWNER_LINE)
  const waiting = idsIn(payload.output, WAIT_LINE)
  // A command that printed one marker's line printed all of them: other markers are another agent's.
  const made = printed.size > 0 ? [] : markers.filter(({ marker, times }) => isMadeByCommand(marker, times, occasion))
  return (stored: StoredMarker, present: Marker) => {
    const owns =
      isNamedInOutput(present, stored.times, occasion, printed) ||
      (made.length === 1 && made[0] === stored && isMadeByCommand(present, stored.times, occasion))
    const owned = owns ? { ...present, hostSession: payload.session as string } : present
    const announces = announcesWait({ id: present.id, changedMs: stored.times.changedMs }, occasion, waiting)
    const change = waitChange(owned, occasion, announces ? 'announcement' : 'command')
    if (!owns && change === undefined) return undefined
    return { fields: { ...(owns && ownerFields(present, payload)), ...change?.fields }, owns, ended: change?.ended }
  }
}
