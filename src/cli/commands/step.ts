import { PostflightError } from '../../core/errors.ts'
import type { Marker } from '../../core/marker.ts'
import { markerDisplayPath } from '../../core/stored-marker.ts'
import type { TaskFolder } from '../../core/task-folder.ts'
import { oneLine } from '../../core/text.ts'
import { changeMarker } from '../../io/marker-store.ts'
import { type CommandContext, type CommandResult, recordInJournal, requireRoot, requireTaskFolder } from '../context.ts'

/** `postflight step`: tick the checklist. */

export interface StepOptions {
  readonly undo: boolean
}

export function step(context: CommandContext, task: string, wanted: string, options: StepOptions): CommandResult {
  const root = requireRoot(context)
  const folder = requireTaskFolder(root, task)
  let index = -1
  const changed = changeMarker(folder, (marker) => {
    index = findStep(folder, marker, wanted)
    return {
      // The list as it lies there is kept, unknown keys included; only `done` changes.
      steps: withStep(marker, index, !options.undo),
    }
  })
  const steps = changed?.steps ?? []
  const name = oneLine(steps[index]?.name ?? '', 200)
  const remaining = steps.filter((one) => !one.done).length
  recordInJournal(context, root, [
    {
      event: 'step',
      markerId: changed?.id,
      task: folder.task,
      detail: `${options.undo ? 'undone' : 'done'}: ${name}`,
    },
  ])
  return {
    exitCode: 0,
    data: { task: folder.task, step: { number: index + 1, name, done: !options.undo }, remaining },
    lines: [
      `${options.undo ? '·' : '✓'} ${index + 1}. ${name} (${remaining === 0 ? 'all done: clear the marker' : `${remaining} to go`})`,
    ],
  }
}

/** By its number (from 1), or by its name. */
function findStep(folder: TaskFolder, marker: Marker, wanted: string): number {
  const path = markerDisplayPath(folder)
  if (marker.fields === undefined || marker.steps.length === 0) throw new PostflightError('steps-none', { path })
  const names = marker.steps.map((one) => one.name)
  // The number first: it is what a block tells the agent.
  const number = Number(wanted)
  if (/^\d+$/.test(wanted) && number >= 1 && number <= names.length) return number - 1
  const named = names.indexOf(wanted)
  if (named !== -1) return named
  const steps = names.map((name, at) => `${at + 1} "${oneLine(name, 60)}"`).join(', ')
  throw new PostflightError('step-unknown', { step: wanted, path, steps })
}

/** The list as it lies there; only the step at `index`, among what is a step, changes. */
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
