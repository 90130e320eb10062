import { PostflightError } from '../../core/errors.ts'
import { type Marker, remainingSteps } from '../../core/marker.ts'
import { JOURNAL_DETAILS, STEP_TEXT } from '../../core/messages/commands.ts'
import { markerProblem } from '../../core/messages/files.ts'
import { markerDisplayPath } from '../../core/stored-marker.ts'
import type { TaskFolder } from '../../core/task-folder.ts'
import { oneLine } from '../../core/text.ts'
import { changeMarker } from '../../io/marker-store.ts'
import { type CommandContext, type CommandResult, recordInJournal, requireRoot, requireTaskFolder } from '../context.ts'
import type { StepDocument } from '../documents/step.ts'

/** `postflight step`: ticks a step of the checklist. */

export interface StepOptions {
  readonly undo: boolean
}

export function step(
  context: CommandContext,
  task: string,
  wanted: string,
  options: StepOptions,
): CommandResult<StepDocument> {
  const root = requireRoot(context)
  const folder = requireTaskFolder(root, task)
  const { plan, marker } = changeMarker(folder, (present) => {
    const index = findStep(folder, present, wanted)
    // Only `done` changes; unknown keys are kept.
    return { fields: { steps: withStep(present, index, !options.undo) }, index }
  })
  const name = oneLine(marker.steps[plan.index]?.name ?? '', 200)
  const remaining = remainingSteps(marker).length
  recordInJournal(context, root, [
    {
      event: 'step',
      markerId: marker.id,
      task: folder.task,
      detail: JOURNAL_DETAILS.step(name, !options.undo),
    },
  ])
  return {
    exitCode: 0,
    data: { task: folder.task, step: { number: plan.index + 1, name, done: !options.undo }, remaining },
    lines: [STEP_TEXT.line(plan.index + 1, name, !options.undo, remaining)],
  }
}

/** The index of a step that is named by its number (from 1) or its name. */
function findStep(folder: TaskFolder, marker: Marker, wanted: string): number {
  const path = markerDisplayPath(folder)
  const [problem] = marker.problems
  if (marker.fields === undefined && problem !== undefined) {
    throw new PostflightError('marker-unparsed', { path, detail: markerProblem(problem) })
  }
  if (marker.steps.length === 0) throw new PostflightError('steps-none', { path })
  const names = marker.steps.map((one) => one.name)
  // The number comes first, because a block's reason names the numbers.
  const number = Number(wanted)
  if (/^\d+$/.test(wanted) && number >= 1 && number <= names.length) return number - 1
  const named = names.indexOf(wanted)
  if (named !== -1) return named
  const steps = names.map((name, at) => `${at + 1} "${oneLine(name, 60)}"`).join(', ')
  throw new PostflightError('step-unknown', { step: wanted, path, steps })
}

/** The list as it is in the file, with only one step changed. `index` counts valid steps only. */
function withStep(marker: Marker, index: number, done: boolean): unknown[] {
  const items: unknown = marker.fields?.steps
  let at = -1
  return (Array.isArray(items) ? items : []).map((item: unknown) => {
    if (isStep(item)) at += 1
    return isStep(item) && at === index ? withDone(item, done) : item
  })
}

function isStep(item: unknown): boolean {
  return typeof (typeof item === 'string' ? item : (item as { name?: unknown } | null)?.name) === 'string'
}

function withDone(item: unknown, done: boolean): object {
  return typeof item === 'string' ? { name: item, done } : { ...(item as object), done }
}
