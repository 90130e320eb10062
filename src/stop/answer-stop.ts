import { hasDoneFile } from '../done/trust-store.ts'
import type { Occasion } from '../hosts/payload.ts'
import type { TaskFolder } from '../project/task-folder.ts'
import { isSessionFolder } from '../project/task-folders.ts'
import { type Answered, answerToStop, type RunReport, type StopReport } from './answer-for.ts'
import { type CommittedStop, commitStop } from './commit.ts'
import { byPath, observeStop } from './observe-stop.ts'
import { blocks, planMarker, recordsOf, type SeenMarker } from './plan.ts'

/** Answers a stop (docs/design.md, "Plan and commit") for the hook, OpenCode's plugin and `explain`. */

export interface StopOfRuns extends RunReport, Pick<StopReport, 'problems'>, Pick<Answered, 'recorded'> {}

/** `isBlocked`: no prompt may be sent. */
type DriveRuns = (isBlocked: boolean) => StopOfRuns | Promise<StopOfRuns>

export const NO_RUNS: StopOfRuns = { prompt: undefined, notices: [], problems: [], recorded: [] }

/** None of its functions throws. */
export interface DonePart extends Pick<Answered, 'recorded' | 'notices'> {
  /** Whether a definition of done may hold this stop: not in plan mode, during a run, or without its file or trusted copy. */
  readonly judges: (root: string) => boolean
  readonly count: (committed: CommittedStop) => CommittedStop
  /** Arms the definition of done if the session's run ended at this stop. Returns whether it tried. */
  readonly armAfterRuns: () => Promise<boolean>
}

export type AnsweredStop = ReturnType<typeof answerOf>

const NOTHING_ARMED: DonePart = {
  judges: () => false,
  count: (committed) => committed,
  armAfterRuns: async () => false,
  recorded: [],
  notices: [],
}

/** `load`: only for the main conversation of a project with a definition of done. */
export async function doneFor(
  occasion: Occasion,
  load: () => DoneModule | Promise<DoneModule>,
  hasRun: () => boolean,
): Promise<DonePart | undefined> {
  const roots = occasion.payload.event === 'Stop' ? occasion.roots.filter(hasDoneFile) : []
  return roots.length === 0 ? undefined : (await load()).doneAtStop(roots, occasion, hasRun)
}

type DoneModule = Pick<typeof import('./done-part.ts'), 'doneAtStop'>

/** Rejects only if `driveRuns` does. */
export async function answerStop(occasion: Occasion, driveRuns: DriveRuns, done = NOTHING_ARMED) {
  const { count, judges } = done
  const planned = observeAndPlan(occasion, judges)
  let committed = count(await commitStop(planned.plan, occasion))
  const runs = await driveRuns(committed.outcomes.some(blocks))
  if (await done.armAfterRuns()) {
    // Only the markers of definitions of done: the others have been judged.
    const { plan } = observeAndPlan(occasion, judges)
    const armed = plan.filter((one) => one.kind === 'marker' && isSessionFolder(one.folder))
    const more = count(await commitStop(armed, occasion))
    committed = {
      outcomes: [...committed.outcomes, ...more.outcomes],
      unchecked: committed.unchecked + more.unchecked,
      recorded: [...committed.recorded, ...more.recorded],
    }
  }
  return answerOf(occasion, planned, committed, runs, done)
}

/** Writes nothing. `made`: the markers that definitions of done would leave in the session's folders. */
export function predictStop(
  occasion: Occasion,
  runs: StopOfRuns,
  { judges }: Pick<DonePart, 'judges'> = NOTHING_ARMED,
  made: readonly { readonly folder: TaskFolder; readonly seen: SeenMarker | undefined }[] = [],
) {
  const observed = observeStop(occasion)
  const others = observed.markers.filter(({ folder }) => made.every((one) => one.folder.path !== folder.path))
  const markers = [...others, ...made.flatMap(({ seen }) => seen ?? [])].sort(byPath)
  const planned = observeAndPlan(occasion, judges, { ...observed, markers })
  const predicted = { outcomes: planned.plan, unchecked: 0, recorded: [] }
  return answerOf(occasion, planned, predicted, runs)
}

/** `unblocked`: markers that can no longer block the stop. */
export async function endStop(occasion: Occasion) {
  const { plan, unchecked } = observeAndPlan(occasion, () => true)
  const judged = plan.filter((one) => one.kind === 'marker')
  const unblocked = judged.filter(({ rule }) => rule === 'block')
  const rest = judged.filter(({ rule }) => rule !== 'block')
  const committed = await commitStop(rest, occasion)
  return { stop: answerOf(occasion, { plan: rest, unchecked, problems: [] }, committed, NO_RUNS), unblocked }
}

function observeAndPlan(occasion: Occasion, judges: DonePart['judges'], observed = observeStop(occasion)) {
  const { markers, problems, unchecked } = observed
  const planned = markers.map((seen) => planMarker(seen, occasion))
  const plan = planned.filter((one) => {
    if (one.kind !== 'marker' || !['block', 'capped'].includes(one.rule)) return true
    return !isSessionFolder(one.folder) || judges(one.folder.root)
  })
  return { problems, unchecked, plan }
}

function answerOf(
  occasion: Occasion,
  planned: Readonly<ReturnType<typeof observeAndPlan>>,
  { outcomes, unchecked, recorded }: CommittedStop,
  runs: StopOfRuns,
  done = NOTHING_ARMED,
) {
  const problems = [...planned.problems, ...runs.problems]
  const notified = { ...runs, notices: [...done.notices, ...runs.notices] }
  const report = { outcomes, problems, unchecked: planned.unchecked + unchecked, runs: notified }
  const records = [...done.recorded, ...recorded, ...recordsOf(outcomes, occasion.payload), ...runs.recorded]
  const answer = answerToStop(occasion, report)
  return { ...answer, recorded: records, plan: planned.plan, outcomes, problems }
}
