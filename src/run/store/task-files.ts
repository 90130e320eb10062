import fs from 'node:fs'
import path from 'node:path'
import { CHANGING, closeQuietly } from '../../disk/file-facts.ts'
import { inspectInside, inspectNamed, readInside } from '../../disk/inside.ts'
import { readSmallBytes } from '../../disk/read.ts'
import { PostflightError } from '../../kernel/errors.ts'
import { findTask, type KnownTask, readChecklist } from '../definition/checklist.ts'
import { MAX_PHASE_STEPS } from '../definition/definition-limits.ts'
import type { StepsSeen } from '../machine/observation.ts'
import { WORKFLOW_TEXT } from '../run-messages.ts'

/** Faults in agents' files are results, which agents can correct. */

type JsonRead =
  | { readonly kind: 'absent' }
  | { readonly kind: 'wrong'; readonly why: string }
  | { readonly kind: 'json'; readonly value: unknown }

export function readJson(folder: string, name: string, limit: number, inspect = inspectInside): JsonRead {
  const read = readInside(folder, name, limit, inspect)
  if (read.kind === 'absent') return read
  if (read.kind === 'unreadable') return { kind: 'wrong', why: unreadable(folder, name, read.detail) }
  if (!read.whole) return { kind: 'wrong', why: WORKFLOW_TEXT.tooLarge(name, limit) }
  try {
    return { kind: 'json', value: JSON.parse(read.text.replace(/^\ufeff/, '')) }
  } catch (error) {
    return { kind: 'wrong', why: WORKFLOW_TEXT.notJson(name, (error as Error).message) }
  }
}

function unreadable(folder: string, name: string, detail: string): string {
  if (isNoFaultOfFile(detail)) {
    throw new PostflightError('file-unreadable', { path: path.join(folder, name), detail })
  }
  return WORKFLOW_TEXT.unreadable(name, detail)
}

function isNoFaultOfFile(detail: string): boolean {
  // Agents can correct kinds and permissions, but not system errors such as EIO.
  return /^E[A-Z0-9]+$/.test(detail) && detail !== 'EACCES' && detail !== 'EPERM'
}

/** In bytes; parsed in about 50 ms. */
const CHECKLIST_LIMIT = 131_072

type TextRead =
  | { readonly kind: 'absent' | 'too-large' | 'not-utf8' }
  | { readonly kind: 'unreadable'; readonly detail: string }
  | { readonly kind: 'text'; readonly text: string }

function readChecklistFile(folder: string, name: string): TextRead {
  const found = inspectNamed(folder, name)
  if (found.kind === 'absent') return found
  if (found.kind !== 'file') return { kind: 'unreadable', detail: found.what }
  const read = readSmallBytes(found.path, CHECKLIST_LIMIT)
  if (read.kind !== 'bytes') return read
  if (!read.whole) return { kind: 'too-large' }
  const text = read.bytes.toString('utf8')
  return Buffer.from(text).equals(read.bytes) ? { kind: 'text', text } : { kind: 'not-utf8' }
}

export function seeTasks(folder: string, name: string): StepsSeen {
  const read = readChecklistFile(folder, name)
  if (read.kind === 'absent') return { kind: 'none', why: WORKFLOW_TEXT.noStepsFile(name) }
  if (read.kind === 'unreadable') return noSteps(unreadable(folder, name, read.detail))
  if (read.kind !== 'text') return noSteps(CHECKLIST_FAULTS[read.kind](name))
  const tasks = readChecklist(read.text)
  if (tasks === undefined) return noSteps(WORKFLOW_TEXT.tooDeep(name))
  if (tasks.length === 0) return noSteps(WORKFLOW_TEXT.noTasks(name))
  const steps = tasks.flatMap(({ text, done }, item) => (done ? [] : [{ text, item }]))
  if (steps.length > MAX_PHASE_STEPS) return noSteps(WORKFLOW_TEXT.tooManySteps(name, steps.length, MAX_PHASE_STEPS))
  return { kind: 'list', steps }
}

const CHECKLIST_FAULTS = {
  'too-large': (name: string) => WORKFLOW_TEXT.tooLarge(name, CHECKLIST_LIMIT),
  'not-utf8': WORKFLOW_TEXT.notUtf8,
}

function noSteps(why: string): StepsSeen {
  return { kind: 'none', why: WORKFLOW_TEXT.mendSteps(why) }
}

/** Replaces one byte in place, so that nothing else changes. Repeating it changes nothing. */
export function tickTask(folder: string, name: string, known: KnownTask): void {
  const read = readChecklistFile(folder, name)
  if (read.kind !== 'text') return
  const task = findTask(readChecklist(read.text) ?? [], known)
  const found = inspectInside(folder, name)
  if (task === undefined || task.done || found.kind !== 'file') return
  const at = Buffer.byteLength(read.text.slice(0, task.box))
  const descriptor = fs.openSync(found.path, CHANGING)
  try {
    // An editor may have saved meanwhile: then the task stays open.
    const box = Buffer.alloc(3)
    fs.readSync(descriptor, box, 0, 3, at - 1)
    if (/^\[[ \t]\]$/.test(box.toString('latin1'))) {
      fs.writeSync(descriptor, 'x', at)
      // Must be durable before the state counts the step as done.
      fs.fsyncSync(descriptor)
    }
  } finally {
    closeQuietly(descriptor)
  }
}
