import { isUtf8 } from 'node:buffer'
import fs from 'node:fs'
import path from 'node:path'
import { CHANGING, closeQuietly } from '../../disk/file-facts.ts'
import { inspectInside, inspectNamed, lastNamed, moveInside, readInside } from '../../disk/folders.ts'
import { isSystemCode, PostflightError } from '../../kernel/errors.ts'
import { ARTIFACTS_FOLDER } from '../../kernel/files.ts'
import { counted, quote } from '../../kernel/text.ts'
import { attempt, isJsonObject, parseJson } from '../../kernel/values.ts'
import { type TaskFolder, taskWord } from '../../project/task-folder.ts'
import { findBreach, MAX_SCHEMA_STEPS } from '../definition/artifact-schema.ts'
import { findTask, readChecklist } from '../definition/checklist.ts'
import { MAX_PHASE_STEPS } from '../definition/definition-limits.ts'
import { type Phase, reasonText, type StepSource, verdictOf } from '../definition/phase-fields.ts'
import { type ChecklistItem, MAX_STEP_LENGTH, resolvePointer, type Step, stepAsText } from '../definition/steps.ts'
import {
  type ArtifactSeen,
  archivedName,
  type Effect,
  noStepsFile,
  type Observation,
  type StepResultSeen,
  type StepsSeen,
  type StopCircumstances,
  stepFolder,
} from '../machine/observation.ts'
import {
  currentPhase,
  isInStep,
  stepArchiveName,
  stepResultFile,
  tellsPrevious,
  visitPutAside,
  withBatch,
} from '../machine/position.ts'
import { hasBegun, type WorkflowState } from '../machine/state.ts'
import type { StepInWork } from '../machine/state-fields.ts'
import { stepResultFiles } from './put-aside.ts'
import { checkBreach } from './receipts.ts'

/** In bytes. */
const ARTIFACT_LIMIT = 4_194_304
const STEP_RESULT_LIMIT = 1_048_576

/**
 * Throws `file-unreadable` if the system fails: finished work must not count as failed. `moved`: files that a prediction
 * takes for archived, with their places.
 */
export function observe(
  task: TaskFolder,
  state: WorkflowState,
  circumstances: StopCircumstances,
  moved: ReadonlyMap<string, string> = new Map(),
): Observation {
  const folder = task.path
  const phase = currentPhase(state)
  const { artifact } = phase
  const inWork = isInStep(state) ? withBatch(state, phase).inWork : []
  const asksArtifact = (!hasBegun(state) || !isInStep(state)) && artifact !== undefined && !moved.has(artifact)
  const tells = tellsPrevious(state) && artifact !== undefined
  return {
    ...circumstances,
    task: taskWord(task),
    artifact: asksArtifact ? seeCheckedArtifact(task, artifact, phase, state) : ABSENT,
    stepResults: inWork.map((step) =>
      moved.has(stepResultFile(phase, step.step)) ? ABSENT : seeStepResult(folder, state, phase, step),
    ),
    strayResults: strayResults(folder, phase, inWork).filter((name) => !moved.has(name)),
    steps: state.stepsKnown || phase.steps === undefined ? undefined : seeSteps(folder, phase.steps),
    previousArtifact: tells ? (moved.get(artifact) ?? previousArtifact(folder, state, artifact)) : undefined,
  }
}

const ABSENT = { kind: 'absent' } as const

function previousArtifact(folder: string, state: WorkflowState, artifact: string): string | undefined {
  const name = archivedName(visitPutAside(state), artifact)
  const last = lastNamed(path.join(folder, ARTIFACTS_FOLDER, state.phase), name)
  return last === undefined ? undefined : `${ARTIFACTS_FOLDER}/${state.phase}/${last}`
}

function seeCheckedArtifact(folder: TaskFolder, name: string, phase: Phase, state: WorkflowState): ArtifactSeen {
  const seen = seeArtifact(folder.path, name, phase)
  if (seen.kind !== 'valid' || phase.check.run === undefined) return seen
  const why = checkBreach(folder, state, phase)
  return why === undefined ? seen : invalid(why)
}

export function seeArtifact(folder: string, name: string, { check, next }: Phase): ArtifactSeen {
  const found = inspectNamed(folder, name)
  if (found.kind === 'absent') return found
  if (found.kind !== 'file') return invalid(`${quote(name)} is ${found.what}, not a file`)
  const { size, changedMs } = found
  const { minBytes = 0 } = check
  if (size < minBytes) {
    return invalid(`${quote(name)} has ${counted(size, 'byte')}, but must have at least ${minBytes}`, changedMs)
  }
  if (check.json !== true && check.jsonSchema === undefined && next.verdict === undefined) return { kind: 'valid' }
  const json = readJson(folder, name, ARTIFACT_LIMIT)
  if (json.kind === 'absent') return json
  if (json.kind === 'wrong') return invalid(json.why, changedMs)
  const breach = schemaBreach(name, check.jsonSchema, json.value)
  if (breach !== undefined) return invalid(breach, changedMs)
  if (next.verdict === undefined) return { kind: 'valid' }
  const verdict = verdictOf(next, resolvePointer(json.value, next.verdict))
  const reason = next.reason === undefined ? undefined : reasonText(resolvePointer(json.value, next.reason))
  if (verdict !== undefined) return { kind: 'valid', verdict, reason }
  const expected =
    next.cases === undefined
      ? 'true, false, "pass" or "fail"'
      : `${next.otherwise === undefined ? 'one of' : 'a string, such as'} ${quote(Object.keys(next.cases).join(', '), 400)}`
  return invalid(`${quote(name)} has no verdict at "${quote(next.verdict, 100)}": it must be ${expected}`, changedMs)
}

function schemaBreach(name: string, schema: unknown, value: unknown): string | undefined {
  const breach = schema === undefined ? undefined : findBreach(schema, value)
  if (breach === undefined) return undefined
  if (breach === 'too-long') {
    return `${quote(name)} cannot be checked: its schema needs more than ${MAX_SCHEMA_STEPS} steps for it. Make the file or the schema smaller`
  }
  const { at, keyword, expected } = breach
  const location = at === '' ? 'the whole value' : `the value at "${quote(at, 100)}"`
  const rule = keyword === 'false' ? 'is not allowed' : `must satisfy ${keyword}: ${quote(expected, 120)}`
  return `${quote(name)} does not match its schema: ${location} ${rule}`
}

function seeStepResult(folder: string, state: WorkflowState, phase: Phase, step: StepInWork): StepResultSeen {
  const file = stepResultFile(phase, step.step)
  const inArchive = archivedResult(folder, state, step)
  const isArchived = inArchive !== undefined && inspectInside(folder, file).kind === 'absent'
  const read = readJson(folder, isArchived ? inArchive : file, STEP_RESULT_LIMIT)
  if (read.kind === 'absent') return read
  const invalid = (why: string) => ({ kind: 'invalid', why, archived: isArchived }) as const
  if (read.kind === 'wrong') return invalid(read.why)
  const { value } = read
  if (!isJsonObject(value) || typeof value.success !== 'boolean') {
    return invalid(`${file} must have a "success" that is true or false`)
  }
  const breach = value.success ? schemaBreach(file, phase.stepCheck.jsonSchema, value) : undefined
  if (breach !== undefined) return invalid(breach)
  const summary = [value.summary, value.error, value.reason].find((one) => typeof one === 'string' && one !== '')
  const result = { kind: 'result', success: value.success, archived: isArchived } as const
  return typeof summary === 'string' ? { ...result, summary: summary.slice(0, 1000) } : result
}

/** Finds a result that a crash kept out of the state. Other files there may be another run's, or from git. */
function archivedResult(folder: string, state: WorkflowState, step: StepInWork): string | undefined {
  const name = stepArchiveName(step)
  if (!state.archiving.includes(name)) return undefined
  const location = stepFolder(state)
  // If something else has that name, archiving will report it.
  const { kind } = inspectInside(folder, `${location}/${name}`)
  if (kind !== 'file' && kind !== 'other') return undefined
  return `${location}/${lastNamed(path.join(folder, location), name) ?? name}`
}

function strayResults(folder: string, phase: Phase, inWork: readonly StepInWork[]): string[] {
  // Without parallel steps there is only one result file.
  if (phase.parallel === 1) return []
  const wanted = new Set(inWork.map(({ step }) => stepResultFile(phase, step)))
  return stepResultFiles(folder).filter((name) => !wanted.has(name))
}

function seeSteps(folder: string, source: StepSource): StepsSeen | undefined {
  if (source.kind === 'list') return undefined
  const { artifact: name } = source
  if (source.kind === 'checklist') return seeTasks(folder, name)
  const json = readJson(folder, name, ARTIFACT_LIMIT, inspectNamed)
  if (json.kind === 'absent') return noStepsFile(name)
  if (json.kind === 'wrong') return noSteps(json.why)
  const list = resolvePointer(json.value, source.pointer)
  if (!Array.isArray(list)) return noSteps(`${quote(name)} has no list of steps at "${quote(source.pointer, 100)}"`)
  if (list.length > MAX_PHASE_STEPS) return tooManySteps(name, list.length)
  const steps = list.map((step): Step => (isJsonObject(step) ? step : stepAsText(step).slice(0, MAX_STEP_LENGTH)))
  return { kind: 'list', steps }
}

function invalid(why: string, changedMs?: number): ArtifactSeen {
  return { kind: 'invalid', why, changedMs }
}

export function applyEffect(folder: string, effect: Effect): void {
  if (effect.kind === 'tick') {
    tickTask(folder, effect.artifact, effect.item)
    return
  }
  const { kind } = inspectInside(folder, effect.file)
  // Folders and links are moved too, so that they do not count as the next result.
  if (kind === 'absent' || kind === 'elsewhere') return
  moveInside(folder, effect.file, effect.folder, effect.name)
}

/** Each may be as large as an artifact, and `status` always reads them. */
const MAX_LISTS = 20

export function listedIn({ path }: TaskFolder) {
  const known = new Map<string, number | undefined>()
  return ({ steps }: Phase) => {
    if (steps === undefined || steps.kind === 'list') return undefined
    const name = JSON.stringify(steps)
    if (!known.has(name) && known.size < MAX_LISTS) known.set(name, lengthOf(path, steps))
    return known.get(name)
  }
}

function lengthOf(folder: string, source: StepSource): number | undefined {
  // The run itself reports faults.
  const seen = attempt(() => seeSteps(folder, source))
  return seen?.kind === 'list' ? seen.steps.length : undefined
}

/** Faults in agents' files are results, which agents can correct. */
function readAgentsFile(folder: string, name: string, limit: number, inspect = inspectInside) {
  const read = readInside(folder, name, limit, inspect)
  const wrong = (why: string) => ({ kind: 'wrong', why: `${quote(name)} ${why}` }) as const
  if (read.kind === 'unreadable') return wrong(unreadable(folder, name, read.detail))
  return read.kind === 'absent' || read.whole ? read : wrong(`is larger than ${limit} bytes, too large to be checked`)
}

function readJson(folder: string, name: string, limit: number, inspect = inspectInside) {
  const read = readAgentsFile(folder, name, limit, inspect)
  if (read.kind !== 'text') return read
  const json = parseJson(read.text)
  if ('value' in json) return { kind: 'json', value: json.value } as const
  return { kind: 'wrong', why: `${quote(name)} is not JSON (${quote(json.fault, 120)})` } as const
}

function unreadable(folder: string, name: string, detail: string): string {
  // Agents can correct kinds and permissions, but not system errors such as EIO.
  const isOfSystem = isSystemCode(detail) && detail !== 'EACCES' && detail !== 'EPERM'
  if (isOfSystem) throw new PostflightError('file-unreadable', { path: path.join(folder, name), detail })
  return `cannot be read (${quote(detail, 80)})`
}

/** In bytes; parsed in about 50 ms. */
const CHECKLIST_LIMIT = 131_072

function readChecklistFile(folder: string, name: string) {
  const read = readAgentsFile(folder, name, CHECKLIST_LIMIT, inspectNamed)
  if (read.kind !== 'text' || isUtf8(read.bytes)) return read
  return { kind: 'wrong' as const, why: `${quote(name)} is not UTF-8` }
}

function seeTasks(folder: string, name: string): StepsSeen {
  const read = readChecklistFile(folder, name)
  if (read.kind === 'absent') return noStepsFile(name)
  if (read.kind === 'wrong') return noSteps(read.why)
  const tasks = readChecklist(read.text)
  if (tasks === undefined) return noSteps(`${quote(name)} is nested too deeply to be read`)
  if (tasks.length === 0) return noSteps(`${quote(name)} has no task list (lines such as "- [ ] a task")`)
  const steps = tasks.flatMap(({ text, done }, item) => (done ? [] : [{ text, item }]))
  return steps.length > MAX_PHASE_STEPS ? tooManySteps(name, steps.length) : { kind: 'list', steps }
}

function tooManySteps(name: string, count: number): StepsSeen {
  return noSteps(`${quote(name)} lists ${count} steps, more than the maximum of ${MAX_PHASE_STEPS}`)
}

function noSteps(why: string): StepsSeen {
  return { kind: 'none', fix: `${why}: fix the file` }
}

/** Replaces one byte in place, so that nothing else changes. */
export function tickTask(folder: string, name: string, known: ChecklistItem): void {
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
