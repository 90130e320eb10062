import { isPast } from '../disk/age.ts'
import { errorText } from '../disk/file-facts.ts'
import { hasDoneFile } from '../done/trust-store.ts'
import { anyHost } from '../hosts/all-hosts.ts'
import type { Occasion } from '../hosts/payload.ts'
import { markerDisplayPath } from '../marker/stored-marker.ts'
import type { Recorded } from '../project/journal-entry.ts'
import { type Answered, answerToStart, NOTHING_DONE } from '../stop/answer-for.ts'
import { updateWait } from '../stop/commit.ts'
import { observeUnfinished } from '../stop/observe-stop.ts'
import type { UnfinishedWorkflow } from '../stop/recovery.ts'
import { waitVerdict } from '../stop/rules.ts'
import { notDone, unsettledNotice } from '../stop/stop-messages.ts'
import { loadDone, loadWorkflowDriver } from './load-parts.ts'

/** Ends waits, but not after a compaction (docs/design.md, "Recovery"). */
export async function handleSessionStart(occasion: Occasion): Promise<Answered> {
  const { payload, environment, roots, nowMs, deadline } = occasion
  if (anyHost('startsSubagent', payload, environment)) return NOTHING_DONE
  const { unfinished, problems, unread } = observeUnfinished(occasion)
  const recorded: Recorded[] = []
  const complaints = unread > 0 ? [unsettledNotice(unread)] : []
  const isStart = payload.isCompacted !== true
  for (const { folder, marker, state } of isStart ? unfinished : []) {
    const isWaiting = state === 'pending' && waitVerdict(marker, occasion, 'session-start') !== undefined
    if (!isWaiting || isPast(deadline)) continue
    try {
      recorded.push(...updateWait(folder, occasion, 'session-start'))
    } catch (error) {
      complaints.push(notDone('updateWait', markerDisplayPath(folder), errorText(error)))
    }
  }
  let unfinishedRuns: readonly UnfinishedWorkflow[] = []
  try {
    const driver = loadWorkflowDriver()
    unfinishedRuns = driver.listUnfinishedRuns(roots, { nowMs, deadline })
    if (isStart) recorded.push(...driver.noteSessionStarts(unfinishedRuns, payload.session))
  } catch (error) {
    complaints.push(notDone('listRuns', '', errorText(error)))
  }
  const withDone = roots.filter(hasDoneFile)
  const notified = withDone.length > 0 ? await loadDone().startAll(withDone, occasion) : []
  return {
    ...NOTHING_DONE,
    answer: answerToStart(occasion, unfinished, unfinishedRuns, notified),
    recorded,
    complaints: [...complaints, ...problems.map(({ path, detail }) => notDone('listMarkers', path, detail))],
  }
}
