import { isPast } from '../disk/age.ts'
import { errorText } from '../disk/file-errors.ts'
import { startsSubagent } from '../hosts/index.ts'
import type { Marker } from '../marker/marker.ts'
import { isUnowned, markerDisplayPath } from '../marker/stored-marker.ts'
import type { Recorded } from '../project/journal-entry.ts'
import { NOTHING_TO_REPORT, type UnfinishedRun } from '../stop/answer-for.ts'
import { endWait } from '../stop/commit.ts'
import { observeUnfinished } from '../stop/observe-stop.ts'
import { runsNotListed, unlistedComplaint, waitNotNoted } from '../stop/stop-messages.ts'
import { type HookContext, type HookResult, NOTHING_DONE } from './context.ts'
import { loadWorkflowDriver } from './load-workflow.ts'

/**
 * Handles `SessionStart`: the session gets a list of unfinished postflights (docs/design.md, "Recovery"), and its waits end,
 * but not after a compaction.
 */
export function handleSessionStart(context: HookContext): HookResult {
  const { payload, environment, roots, nowMs, deadline } = context
  if (startsSubagent(payload, environment)) return NOTHING_DONE
  const { unfinished, problems } = observeUnfinished(roots, { nowMs, deadline })
  const recorded: Recorded[] = []
  const complaints: string[] = []
  const isStart = payload.isCompacted !== true
  const isOurs = (marker: Marker): boolean => !isUnowned(marker) && marker.hostSession === payload.session
  for (const { folder, marker, state } of isStart ? unfinished : []) {
    if (state !== 'pending' || marker.wait === undefined || !isOurs(marker) || isPast(deadline)) continue
    try {
      recorded.push(...endWait(folder, payload, isOurs))
    } catch (error) {
      complaints.push(waitNotNoted(markerDisplayPath(folder), errorText(error)))
    }
  }
  let unfinishedRuns: readonly UnfinishedRun[] = []
  try {
    const driver = loadWorkflowDriver()
    unfinishedRuns = driver.listUnfinishedRuns(roots, { nowMs, deadline })
    if (isStart) recorded.push(...driver.noteSessionStarts(unfinishedRuns, payload.session))
  } catch (error) {
    complaints.push(runsNotListed(errorText(error)))
  }
  return {
    report: { ...NOTHING_TO_REPORT, unfinished, unfinishedRuns },
    recorded,
    complaints: [...complaints, ...problems.map(({ path, detail }) => unlistedComplaint(path, detail))],
  }
}
