import { rootOptionFor } from '../core/command-line.ts'
import { exemptionOf } from '../core/hosts/index.ts'
import type { Recorded } from '../core/journal-entry.ts'
import { unreadableNotice } from '../core/messages/stops.ts'
import { NOTHING_TO_REPORT, type RunReport } from '../core/stop/answer-for.ts'
import { recordsOf } from '../core/stop/outcome.ts'
import { planStop, type SeenMarker } from '../core/stop/plan.ts'
import { markerDisplayPath } from '../core/stored-marker.ts'
import { errorText } from '../io/fs/errors.ts'
import { partWay } from '../io/process/age.ts'
import { commitStop } from '../io/stop/commit.ts'
import { observeStop } from '../io/stop/observe.ts'
import { type HookContext, type HookResult, NOTHING_DONE } from './context.ts'
import { loadWorkflowDriver } from './load-workflow.ts'
import { keepReportOfHeld } from './reports.ts'

/** The share of a stop's time in which markers are observed. */
const OBSERVING_SHARE = 0.6

/** Handles `SubagentStop` and `Stop`: observes the markers, plans, commits the plan, and moves running workflows on. */
export function handleStop(context: HookContext): HookResult {
  const { payload, environment, roots, nowMs, deadline, findSessionBirth, findStart } = context
  if (exemptionOf(payload, environment) !== undefined) return NOTHING_DONE
  // With very many markers, the rest of the time is for acting on those that were seen.
  const occasion = { payload, nowMs, deadline: partWay(deadline, OBSERVING_SHARE), findSessionBirth, findStart }
  const observed = observeStop(roots, occasion)
  const { outcomes, unchecked, recorded: ended } = commitStop(planStop(observed, payload, nowMs), deadline)
  const isHeld = outcomes.some(({ kind }) => kind === 'blocked')
  const { report: runs, recorded } = driveRuns(observed.markers, context, isHeld)
  const { problems } = observed
  return {
    report: { ...NOTHING_TO_REPORT, outcomes, problems, unchecked: observed.unchecked + unchecked, runs },
    recorded: [...ended, ...recordsOf(outcomes, payload), ...recorded],
    complaints: keepReportOfHeld(context, outcomes),
  }
}

/** Moves the running workflows of this session on. Their driver is loaded only if there are any. */
function driveRuns(
  markers: readonly SeenMarker[],
  { payload, reader, nowMs, deadline, findStart }: HookContext,
  held: boolean,
): { readonly report: RunReport; readonly recorded: readonly Recorded[] } {
  const { session, event, wakingTasks } = payload
  const mine = markers.flatMap((seen) =>
    seen.kind === 'marker' && seen.marker.workflow && session !== undefined && seen.marker.hostSession === session
      ? [
          {
            folder: seen.folder,
            bypassed: seen.marker.bypassed,
            rootOption: rootOptionFor(reader, seen.folder.root),
          },
        ]
      : [],
  )
  if (session === undefined || mine.length === 0) return { report: NOTHING_TO_REPORT.runs, recorded: [] }
  const returned = event === 'Stop' && wakingTasks === 0
  try {
    const stop = { session, returned, held, nowMs, deadline, sinceMs: findStart() }
    return loadWorkflowDriver().driveRuns(mine, stop)
  } catch (error) {
    const notices = mine.map(({ folder }) => unreadableNotice(markerDisplayPath(folder), errorText(error)))
    return { report: { prompt: undefined, notices }, recorded: [] }
  }
}
