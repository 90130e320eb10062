import type { TaskFolder } from '../../project/task-folder.ts'
import type { ListedSteps } from '../definition/bound.ts'
import type { StepSource } from '../definition/phase-fields.ts'
import { seeSteps } from './observe-run.ts'

/** Lists beyond these are not read: each may be as large as an artifact, and `status` reads them every time. */
const MAX_LISTS = 20

/** The lengths of the lists that phases take their steps from, as they are in a task folder now. Each is read once. */
export function listedIn({ path }: TaskFolder): ListedSteps {
  const known = new Map<string, number | undefined>()
  return ({ steps }) => {
    if (steps === undefined || steps.kind === 'list') return undefined
    const name = JSON.stringify(steps)
    const isNew = !known.has(name) && known.size < MAX_LISTS
    if (isNew) known.set(name, lengthOf(path, steps))
    return known.get(name)
  }
}

/** The length of a list; undefined for one that is missing, wrong or unreadable: the run itself says so. */
function lengthOf(folder: string, source: StepSource): number | undefined {
  try {
    const seen = seeSteps(folder, source)
    return seen?.kind === 'list' ? seen.steps.length : undefined
  } catch {
    return undefined
  }
}
