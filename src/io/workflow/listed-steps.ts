import type { TaskFolder } from '../../core/task-folder.ts'
import type { ListedSteps } from '../../core/workflow/bound.ts'
import { seeSteps } from './observe.ts'

/** The lengths of the lists that phases take their steps from, as they are in a task folder now. Each is read once. */
export function listedIn({ path }: TaskFolder): ListedSteps {
  const known = new Map<string, number | undefined>()
  return ({ steps }) => {
    if (steps === undefined || steps.kind === 'list') return undefined
    const name = JSON.stringify(steps)
    if (!known.has(name))
      known.set(
        name,
        lengthOf(() => seeSteps(path, steps)),
      )
    return known.get(name)
  }
}

/** The length of a list; undefined for one that is missing, wrong or unreadable: the run itself says so. */
function lengthOf(see: () => ReturnType<typeof seeSteps>): number | undefined {
  try {
    const seen = see()
    return seen?.kind === 'list' ? seen.steps.length : undefined
  } catch {
    return undefined
  }
}
