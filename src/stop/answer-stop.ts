import type { Occasion } from '../hosts/occasion.ts'
import type { Recorded } from '../project/journal-entry.ts'
import type { SearchProblem, TaskFolder } from '../project/task-folder.ts'
import { type Answered, answerToStop, type RunReport } from './answer-for.ts'
import { type CommittedStop, commitStop, commitStopAsync } from './commit.ts'
import { observeStop } from './observe-stop.ts'
import { type JudgedMarker, type ObservedStop, type PlannedMarker, planStop } from './plan.ts'
import { predictOutcomes, recordsOf, type StopOutcome } from './stop-outcome.ts'

/**
 * A stop, from top to bottom (docs/design.md, "Plan and commit"): the markers are observed, the plan has a rule for each,
 * the plan is committed or its outcomes are predicted, the runs go on, and the answer speaks of what came of it. The hook,
 * OpenCode's plugin and `explain` all answer stops by this file.
 */

/** The part of the runs in a stop. */
export interface StopOfRuns {
  readonly report: RunReport
  /** The folders that could not be searched. */
  readonly problems: readonly SearchProblem[]
  readonly recorded: readonly Recorded[]
}

/** Moves the runs on, after the markers. `isBlocked`: a marker blocks this stop, so no prompt may go out. */
export type DriveRuns<Result> = (isBlocked: boolean) => Result

export const NO_RUNS: StopOfRuns = { report: { prompt: undefined, notices: [] }, problems: [], recorded: [] }

/** The part of a definition of done in a stop whose marker is already made or updated. */
export interface CountedPart {
  /** Counts blocks for the prompt, before they are printed. Never throws. */
  readonly count: (outcomes: readonly StopOutcome[]) => readonly StopOutcome[]
  readonly recorded: readonly Recorded[]
  readonly notices: readonly string[]
}

/** The part of a definition of done in a stop. None of its functions throws. */
export interface DonePart extends CountedPart {
  /** Makes or updates the session's marker, which is then judged like any other. */
  readonly arm: () => void
  /** Makes the marker only now, because the session's run ended at this stop. Whether it tried. */
  readonly armAfterRuns: () => boolean
  readonly isOwn: (folder: TaskFolder) => boolean
}

/** The answer to a stop. */
export interface AnsweredStop extends Answered {
  readonly plan: readonly PlannedMarker[]
  readonly outcomes: readonly StopOutcome[]
  /** The folders that could not be searched. */
  readonly problems: readonly SearchProblem[]
}

export const NOTHING_ARMED: CountedPart = { count: (outcomes) => outcomes, recorded: [], notices: [] }

/** Answers a stop. Never throws, unless `driveRuns` does. */
export function answerStop(occasion: Occasion, driveRuns: DriveRuns<StopOfRuns>, done?: DonePart): AnsweredStop {
  done?.arm()
  const { count } = done ?? NOTHING_ARMED
  const { observed, plan } = observeAndPlan(occasion)
  const committed = commitStop(plan, occasion)
  let outcomes = count(committed.outcomes)
  const runs = driveRuns(blocks(outcomes))
  if (done?.armAfterRuns()) {
    const made = observeAndPlan(occasion).plan.filter((one) => one.kind === 'judged' && done.isOwn(one.stored.folder))
    outcomes = [...outcomes, ...count(commitStop(made, occasion).outcomes)]
  }
  return answerOf(occasion, observed, plan, { ...committed, outcomes }, runs, done)
}

/** The same without blocking the event loop while another process holds a lock. */
export async function answerStopAsync(
  occasion: Occasion,
  driveRuns: DriveRuns<Promise<StopOfRuns>>,
  done: CountedPart = NOTHING_ARMED,
): Promise<AnsweredStop> {
  const { observed, plan } = observeAndPlan(occasion)
  const committed = await commitStopAsync(plan, occasion)
  const outcomes = done.count(committed.outcomes)
  return answerOf(occasion, observed, plan, { ...committed, outcomes }, await driveRuns(blocks(outcomes)), done)
}

/** The answer to a stop at this moment, if nothing changes until then. Writes nothing. */
export function predictStop(occasion: Occasion, runs: StopOfRuns = NO_RUNS): AnsweredStop {
  const { observed, plan } = observeAndPlan(occasion)
  const predicted = { outcomes: predictOutcomes(plan), unchecked: 0, recorded: [] }
  return { ...answerOf(occasion, observed, plan, predicted, runs), recorded: [] }
}

/**
 * Handles an agent that has stopped and can no longer be blocked: only rules that do not block are carried out. `unblocked`:
 * the markers that would have blocked.
 */
export async function endStop(
  occasion: Occasion,
): Promise<{ readonly stop: AnsweredStop; readonly unblocked: readonly JudgedMarker[] }> {
  const { observed, plan } = observeAndPlan(occasion)
  const unblocked = plan.filter((one) => one.kind === 'judged').filter(({ rule }) => rule === 'block')
  const rest = plan.filter((one) => one.kind === 'judged' && one.rule !== 'block')
  const committed = await commitStopAsync(rest, occasion)
  return { stop: answerOf(occasion, { ...observed, problems: [] }, rest, committed, NO_RUNS), unblocked }
}

function observeAndPlan(occasion: Occasion): {
  readonly observed: ObservedStop
  readonly plan: readonly PlannedMarker[]
} {
  const observed = observeStop(occasion)
  return { observed, plan: planStop(observed, occasion) }
}

function blocks(outcomes: readonly StopOutcome[]): boolean {
  return outcomes.some(({ kind }) => kind === 'blocked')
}

function answerOf(
  occasion: Occasion,
  observed: ObservedStop,
  plan: readonly PlannedMarker[],
  { outcomes, unchecked, recorded }: CommittedStop,
  runs: StopOfRuns,
  done: CountedPart = NOTHING_ARMED,
): AnsweredStop {
  const problems = [...observed.problems, ...runs.problems]
  const told = { ...runs.report, notices: [...done.notices, ...runs.report.notices] }
  const report = { outcomes, problems, unchecked: observed.unchecked + unchecked, runs: told }
  return {
    ...answerToStop(occasion, report),
    recorded: [...done.recorded, ...recorded, ...recordsOf(outcomes, occasion.payload), ...runs.recorded],
    complaints: [],
    plan,
    outcomes,
    problems,
  }
}
