import { isPast } from '../disk/age.ts'
import { errorText } from '../disk/file-errors.ts'
import type { Payload } from '../hosts/host.ts'
import { MAIN_AGENT } from '../hosts/host.ts'
import type { Marker } from '../marker/marker.ts'
import { changeMarker } from '../marker/marker-store.ts'
import {
  announcesWait,
  claimedIds,
  claimedOwner,
  isClaimedByOutput,
  isMadeByCommand,
  mayAnnounceWait,
  type ToolUse,
  waitingIds,
} from '../marker/owner-claim.ts'
import { isUnowned, markerDisplayPath, type StoredMarker } from '../marker/stored-marker.ts'
import { endedWait, stampedWait } from '../marker/wait.ts'
import type { Recorded } from '../project/journal-entry.ts'
import { runFileNames } from '../run/store/run-file.ts'
import { NOTHING_TO_REPORT } from '../stop/answer-for.ts'
import { findMarkers } from '../stop/observe-stop.ts'
import { waitState } from '../stop/rules.ts'
import { NO_TIME_LEFT, ownerNotNoted, waitNotNoted } from '../stop/stop-messages.ts'
import { aboutMarker, waitEndRecord } from '../stop/stop-outcome.ts'
import { type HookContext, type HookResult, NOTHING_DONE } from './context.ts'
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
export function handleToolUse(context: HookContext): HookResult {
  const { payload, deadline } = context
  if (payload.command === undefined || payload.session === undefined) return NOTHING_DONE
  const { markers, problems } = findMarkers(context.roots)
  const recorded: Recorded[] = []
  const complaints: string[] = []
  const complain = (path: string, detail: string): void => {
    complaints.push(ownerNotNoted(path, detail))
  }
  const decide = decisionFor(
    context,
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
  const runs = settleRunWaits(context)
  return {
    report: NOTHING_TO_REPORT,
    recorded: [...recorded, ...runs.recorded],
    complaints: [...complaints, ...runs.complaints],
  }
}

/** Stamps or ends the waits of runs, if the command may have announced one and a run is active. */
function settleRunWaits({ payload, roots, findStart }: HookContext): Pick<HookResult, 'recorded' | 'complaints'> {
  const busy = mayAnnounceWait(payload) ? roots.filter((root) => runFileNames(root).length > 0) : []
  if (busy.length === 0) return NOTHING_DONE
  try {
    return loadWorkflowDriver().settleWaits(busy, { payload, endMs: findStart() })
  } catch (error) {
    return { recorded: [], complaints: busy.map((root) => waitNotNoted(root, errorText(error))) }
  }
}

/** The changes of a marker, from its file as it was found and its content as it is now. */
type Decide = (stored: StoredMarker, present: Marker) => Changes | undefined

function decisionFor(context: HookContext, markers: readonly StoredMarker[]): Decide {
  const { payload, findStart, findSessionBirth } = context
  const sessionBornMs = markers.some(({ marker }) => isUnowned(marker)) ? findSessionBirth() : undefined
  const use: ToolUse = { payload, endMs: findStart(), sessionBornMs }
  const claimed = claimedIds(payload.output)
  const waiting = waitingIds(payload.output)
  // A command that printed one line has printed all of them: other markers from that time belong to another agent.
  const made = claimed.size > 0 ? [] : markers.filter(({ marker, times }) => isMadeByCommand(marker, times, use))
  return (stored, present) => {
    const claims =
      isClaimedByOutput(present, stored.times, use, claimed) ||
      (made.length === 1 && made[0] === stored && isMadeByCommand(present, stored.times, use))
    const announced = announcesWait({ id: present.id, changedMs: stored.times.changedMs }, use, waiting)
    const wait = waitChanges(present, payload, claims, announced)
    if (!claims && wait === undefined) return undefined
    return { fields: { ...(claims && claimedOwner(present, payload)), ...wait?.fields }, claims, ended: wait?.ended }
  }
}

/** The changes of a marker's wait; undefined if it stays. `announced`: the command announced it. */
function waitChanges(
  marker: Marker,
  payload: Payload,
  isOurs: boolean,
  announced: boolean,
): { readonly fields: Readonly<Record<string, unknown>>; readonly ended?: string } | undefined {
  const { wait } = marker
  if (wait === undefined) return undefined
  const owned = isOurs ? { ...marker, hostSession: payload.session as string } : marker
  const state = waitState(owned, { payload, startMs: undefined })
  // Only the main conversation can wait: a sub-agent's stop ends it.
  const isSubAgents = announced && payload.agent !== MAIN_AGENT
  if (state === 'over' || (state === 'begins' && isSubAgents)) return { fields: endedWait(wait), ended: wait.for }
  if (state !== 'begins' || !announced || payload.prompt === undefined) return undefined
  return { fields: stampedWait(wait, payload.prompt, Date.now()) }
}
