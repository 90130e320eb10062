import fs from 'node:fs'
import { WORKFLOW_TEXT } from '../../core/messages/runs.ts'
import type { ChecklistTask, KnownTask } from '../../core/workflow/checklist.ts'
import { MAX_PHASE_STEPS } from '../../core/workflow/definition-limits.ts'
import type { StepsSeen } from '../../core/workflow/observation.ts'
import { CHANGING, closeQuietly } from '../fs/descriptors.ts'
import { lookForNamed, lookInside } from '../fs/inside.ts'
import { readSmallBytes } from '../fs/read.ts'
import { loadChecklist } from './load-checklist.ts'
import { unreadable } from './read-json.ts'

/** Reads and ticks the task list of a Markdown file in a task folder. */

/** The size of the largest file that is read, in bytes. The parser takes a third of a second for it. */
const CHECKLIST_LIMIT = 131_072

/** The task list of a file, or why there is none. */
type ChecklistRead =
  | { readonly kind: 'absent' | 'too-large' | 'not-utf8' | 'too-deep' }
  | { readonly kind: 'unreadable'; readonly detail: string }
  | { readonly kind: 'tasks'; readonly text: string; readonly tasks: readonly ChecklistTask[] }

/** Reads the tasks of `name` (with `/`) in a task folder. */
function readChecklistFile(folder: string, name: string): ChecklistRead {
  const found = lookForNamed(folder, name)
  if (found.kind === 'absent') return found
  if (found.kind !== 'file') return { kind: 'unreadable', detail: found.what }
  const read = readSmallBytes(found.path, CHECKLIST_LIMIT)
  if (read.kind !== 'bytes') return read
  if (!read.whole) return { kind: 'too-large' }
  const text = read.bytes.toString('utf8')
  if (!Buffer.from(text).equals(read.bytes)) return { kind: 'not-utf8' }
  const { isNestedTooDeeply, readChecklist } = loadChecklist()
  return isNestedTooDeeply(text) ? { kind: 'too-deep' } : { kind: 'tasks', text, tasks: readChecklist(text) }
}

/** The open tasks of a file, as steps. @throws {PostflightError} `file-unreadable` for an error of the system. */
export function seeTasks(folder: string, name: string): StepsSeen {
  const read = readChecklistFile(folder, name)
  if (read.kind === 'absent') return { kind: 'none', why: WORKFLOW_TEXT.noStepsFile(name) }
  if (read.kind === 'unreadable') return noSteps(unreadable(folder, name, read.detail))
  if (read.kind !== 'tasks') return noSteps(CHECKLIST_FAULTS[read.kind](name))
  if (read.tasks.length === 0) return noSteps(WORKFLOW_TEXT.noTasks(name))
  const steps = read.tasks.flatMap(({ text, done }, item) => (done ? [] : [{ text, item }]))
  if (steps.length > MAX_PHASE_STEPS) return noSteps(WORKFLOW_TEXT.tooManySteps(name, steps.length, MAX_PHASE_STEPS))
  return { kind: 'list', steps }
}

const CHECKLIST_FAULTS = {
  'too-large': (name: string) => WORKFLOW_TEXT.tooLarge(name, CHECKLIST_LIMIT),
  'too-deep': WORKFLOW_TEXT.tooDeep,
  'not-utf8': WORKFLOW_TEXT.notUtf8,
}

function noSteps(why: string): StepsSeen {
  return { kind: 'none', why: WORKFLOW_TEXT.mendSteps(why) }
}

/**
 * Ticks a task: one byte of the file is replaced in its place, so that nothing else changes. A task that is ticked already,
 * or that the file no longer has, is left. Repeating it changes nothing.
 * @throws file-system errors.
 */
export function tickTask(folder: string, name: string, known: KnownTask): void {
  const read = readChecklistFile(folder, name)
  if (read.kind !== 'tasks') return
  const task = loadChecklist().findTask(read.tasks, known)
  const found = lookInside(folder, name)
  if (task === undefined || task.done || found.kind !== 'file') return
  const at = Buffer.byteLength(read.text.slice(0, task.box))
  const descriptor = fs.openSync(found.path, CHANGING)
  try {
    // An editor may have saved the file meanwhile: then the next reader of the list finds the task open.
    const box = Buffer.alloc(3)
    fs.readSync(descriptor, box, 0, 3, at - 1)
    if (/^\[[ \t]\]$/.test(box.toString('latin1'))) fs.writeSync(descriptor, 'x', at)
  } finally {
    closeQuietly(descriptor)
  }
}
