import { errorText } from '../disk/file-facts.ts'
import { readEnd } from '../disk/read.ts'
import { exemptionOf } from '../hosts/all-hosts.ts'
import type { Occasion } from '../hosts/payload.ts'
import type { SearchProblem } from '../project/task-folder.ts'
import { runFileNames } from '../run/store/run-file.ts'
import { type Answered, NOTHING_DONE } from '../stop/answer-for.ts'
import { answerStop, doneFor, NO_RUNS, type StopOfRuns } from '../stop/answer-stop.ts'
import { unreadableNotice } from '../stop/stop-messages.ts'
import { loadDone, loadWorkflowDriver } from './load-parts.ts'
import { keepReports } from './report.ts'

export async function handleStop(occasion: Occasion): Promise<Answered> {
  if (exemptionOf(occasion.payload, occasion.environment, readEnd) !== undefined) return NOTHING_DONE
  const { roots } = occasion
  const hasRun = (): boolean =>
    roots.some((root) => runFileNames(root).length > 0) &&
    loadWorkflowDriver().findActiveRuns(roots, occasion).runs.length > 0
  const done = await doneFor(occasion, loadDone, hasRun)
  const stop = await answerStop(occasion, (isBlocked) => driveRuns(occasion, isBlocked), done)
  return { ...stop, complaints: keepReports(occasion, stop.outcomes) }
}

function driveRuns(occasion: Occasion, isBlocked: boolean): StopOfRuns {
  const { session } = occasion.payload
  const problems: SearchProblem[] = []
  const roots = occasion.roots.filter((root) => runFileNames(root, problems).length > 0)
  if (session === undefined || roots.length === 0) return { ...NO_RUNS, problems }
  try {
    return { ...loadWorkflowDriver().driveRuns(roots, occasion, isBlocked), problems }
  } catch (error) {
    const notices = roots.map((root) => unreadableNotice(root, errorText(error)))
    return { ...NO_RUNS, notices, problems }
  }
}
