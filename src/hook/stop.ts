import { partWay } from '../disk/age.ts'
import { errorText } from '../disk/file-errors.ts'
import { exemptionOf } from '../hosts/index.ts'
import type { Recorded } from '../project/journal-entry.ts'
import type { SearchProblem } from '../project/task-folder.ts'
import { runFileNames } from '../run/store/run-file.ts'
import { NOTHING_TO_REPORT, type RunReport } from '../stop/answer-for.ts'
import { commitStop } from '../stop/commit.ts'
import { observeStop } from '../stop/observe-stop.ts'
import { planStop } from '../stop/plan.ts'
import { unreadableNotice } from '../stop/stop-messages.ts'
import { recordsOf } from '../stop/stop-outcome.ts'
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
  const unlisted: SearchProblem[] = []
  const busy = roots.filter((root) => runFileNames(root, unlisted).length > 0)
  const { report: runs, recorded } = driveRuns(busy, context, isHeld)
  const problems = [...observed.problems, ...unlisted]
  return {
    report: { ...NOTHING_TO_REPORT, outcomes, problems, unchecked: observed.unchecked + unchecked, runs },
    recorded: [...ended, ...recordsOf(outcomes, payload), ...recorded],
    complaints: keepReportOfHeld(context, outcomes),
  }
}

/** Moves the running workflows of this session on. Their driver is loaded only if run files lie in a root. */
function driveRuns(
  roots: readonly string[],
  { payload, reader, nowMs, deadline, findStart }: HookContext,
  held: boolean,
): { readonly report: RunReport; readonly recorded: readonly Recorded[] } {
  const { session, event, wakeUps } = payload
  if (session === undefined || roots.length === 0) return { report: NOTHING_TO_REPORT.runs, recorded: [] }
  const returned = event === 'Stop' && wakeUps === 0
  try {
    const stop = { session, payload, reader, returned, held, nowMs, deadline, sinceMs: findStart() }
    return loadWorkflowDriver().driveRuns(roots, stop)
  } catch (error) {
    const notices = roots.map((root) => unreadableNotice(root, errorText(error)))
    return { report: { prompt: undefined, notices }, recorded: [] }
  }
}
