import { fromIso, toIso } from '../../kernel/time.ts'
import { formatWait, parseWait, type Wait } from '../../marker/marker-wait.ts'
import { type Definition, readDefinition } from '../definition/definition.ts'
import { MAX_PHASE_STEPS } from '../definition/definition-limits.ts'
import {
  count,
  flag,
  keyed,
  listOf,
  objectOf,
  oneOf,
  optional,
  type Read,
  type Reader,
  recordOf,
  text,
  type Values,
  WRONG,
  within,
} from '../definition/fields.ts'
import type { Phase } from '../definition/phase-fields.ts'
import { readStep } from '../definition/steps.ts'

/** `moved`: see docs/shared-runs.md. */
export const RUN_OUTCOMES = ['completed', 'stopped', 'stalled', 'failed', 'aborted', 'moved'] as const
export type RunOutcome = (typeof RUN_OUTCOMES)[number]

export const TRANSITION_EVENTS = [
  ...(['start', 'enter', 'prompt', 'retry', 'step-done', 'step-failed', 'step-skipped'] as const),
  ...(['pass', 'fail', 'warn'] as const),
  ...(['stop-request', 'resume', 'end', 'approval', 'approved', 'rejected', 'step-again', 'phase-skipped'] as const),
] as const
export type TransitionEvent = (typeof TRANSITION_EVENTS)[number]

/** More steps would allow more prompts than the definition. */
const step = within(0, MAX_PHASE_STEPS)

/** `step` and `attempt` count from 1. */
const TRANSITION_FIELDS = {
  event: oneOf(...TRANSITION_EVENTS),
  phase: text,
  visit: optional(count),
  step: optional(step),
  attempt: optional(count),
  outcome: optional(oneOf(...RUN_OUTCOMES)),
  verdict: optional(text),
  detail: optional(text),
}

type TransitionFields = Values<typeof TRANSITION_FIELDS>
export type Transition = Pick<TransitionFields, 'event' | 'phase'> & Partial<TransitionFields>
/** `n` counts from 1. */
export type HistoryEntry = Transition & Readonly<{ n: number; timeMs: number }>

export function historyFields({ n, timeMs, ...transition }: HistoryEntry): Record<string, unknown> {
  return { n, time: toIso(timeMs), ...transition }
}

const readEntry = objectOf({
  ...TRANSITION_FIELDS,
  n: count,
  // Keeps an entry without a readable time.
  timeMs: { key: 'time', read: (value) => (typeof value === 'string' ? fromIso(value) : undefined) ?? 0 },
})

export function readHistoryEntry(value: unknown): HistoryEntry | undefined {
  const entry = readEntry(value)
  return entry === WRONG ? undefined : entry
}

/**
 * Progress of a phase's visit. A second visit begins with `archiving` the old artifact. From the first prompt on, a
 * visit is `prompted`, `came-back` (the main conversation has stopped since) or `between-prompts`; a rejection by a
 * person leads to `archiving-rejected`. A resume continues at the stage of the ended run.
 */
export const STAGES = [
  'archiving',
  'entered',
  'prompted',
  'came-back',
  'between-prompts',
  'archiving-rejected',
] as const

const WORK_FIELDS = {
  step: count,
  attempts: count,
  maxAttempts: { key: 'max_attempts', read: count },
  out: flag,
  failure: optional(text),
}

export interface StepInWork extends Values<typeof WORK_FIELDS> {}

const WORK: Kind<readonly StepInWork[]> = {
  read: listOf(objectOf(WORK_FIELDS), MAX_PHASE_STEPS),
  write: (steps) => steps.map((one) => keyed(WORK_FIELDS, one)),
}

const readEndedStep = objectOf({ step: count, attempts: count, outcome: oneOf('done', 'skipped') })

export interface EndedStep extends Read<typeof readEndedStep> {}

/** In the file, an undefined value is null. */
type Kind<T> = { read: Reader<T>; write(value: NonNullable<T>): unknown }

function asKind<T>(kind: Kind<T> | Reader<T>): Kind<T> {
  return typeof kind === 'function' ? { read: kind, write: (value) => value } : kind
}

function given<T>(key: string, kind: Kind<T> | Reader<T>) {
  return { key, ...asKind(kind), lifetime: 'given' } as const
}

function ofRun<T>(key: string, kind: Kind<T> | Reader<T>, first: NoInfer<T>) {
  return { key, ...asKind(kind), lifetime: 'run', first: () => first } as const
}

function ofVisit<T>(key: string, kind: Kind<T> | Reader<T>, first: (phase: Phase, visit: number) => NoInfer<T>) {
  return { key, ...asKind(kind), lifetime: 'visit', first } as const
}

function orNull<T>(read: Reader<T>): Reader<T | undefined> {
  return (held) => (held === null ? undefined : read(held))
}

/** An unreadable time counts as unknown. */
const TIME: Kind<number | undefined> = {
  read: orNull((value) => (typeof value === 'string' ? fromIso(value) : WRONG)),
  write: toIso,
}

const KNOWN_TIME: Kind<number> = { read: (value) => TIME.read(value) ?? 0, write: toIso }
const outcome = orNull((value) => (typeof value === 'string' ? RUN_OUTCOMES.find((one) => one === value) : WRONG))
const counts = recordOf(count)
/** `note`: the approval's note, or the reason for the rejection. */
const approval = objectOf({ standing: oneOf('asked', 'approved', 'rejected'), note: optional(text) })

/** An unreadable wait counts as none. */
const WAIT: Kind<Wait | undefined> = {
  read: orNull((value) => (value === undefined ? WRONG : parseWait(value))),
  write: formatWait,
}

const ledBy = objectOf({ phase: text, verdict: optional(text), reason: optional(text) })

/** The history file has all transitions. */
export const HISTORY_KEPT = 50

const HISTORY: Kind<readonly HistoryEntry[]> = {
  read: (value) => (Array.isArray(value) ? value.flatMap((one) => readHistoryEntry(one) ?? []) : WRONG),
  write: (entries) => entries.slice(-HISTORY_KEPT).map(historyFields),
}

const DEFINITION: Kind<Definition> = { read: (raw) => readDefinition(raw) ?? WRONG, write: ({ snapshot }) => snapshot }

/** The state's type and file, new runs and new visits follow from it. In the file's order; attempts, steps from 0. */
export const STATE_FIELDS = {
  /** Also in its run file and `workflow/id`. */
  id: given('id', text),
  name: given('name', text),
  active: ofRun('active', flag, true),
  outcome: ofRun('outcome', outcome, undefined),
  why: ofRun('why', orNull(text), undefined),
  /** Set by a person: the run no longer counts as unfinished. */
  settled: ofRun('settled', flag, false),
  phase: ofVisit('phase', text, ({ id }) => id),
  stage: ofVisit('stage', oneOf(...STAGES), (_phase, visit) => (visit > 1 ? 'archiving' : 'entered')),
  phaseAttempts: ofVisit('phase_attempts', count, () => 0),
  /** Grows with a resume: counts never decrease. */
  maxPhaseAttempts: ofVisit('max_phase_attempts', count, (phase) => phase.maxAttempts),
  totalSteps: ofVisit('total_steps', step, () => 0),
  inWork: ofVisit('in_work', WORK, () => []),
  archiving: ofVisit('archiving', listOf(text), () => []),
  endedSteps: ofVisit('ended_steps', listOf(readEndedStep, MAX_PHASE_STEPS), () => []),
  promptedMs: ofRun('prompted_at', TIME, undefined),
  /** For requests from before the prompt was sent. */
  repeats: ofRun('repeats', count, 0),
  /** The host's id of the user's prompt that was being answered when ours was sent. */
  promptId: ofVisit('prompt_id', orNull(text), () => undefined),
  shells: ofVisit('shells', listOf(text), () => []),
  /**
   * The host's id of the prompt with which the person interrupted. After a restart it equals `prompt_id`: no stop is
   * allowed first.
   */
  heardPromptId: ofVisit('heard_prompt_id', orNull(text), () => undefined),
  interruptions: ofVisit('interruptions', count, () => 0),
  askedToWait: ofVisit('asked_to_wait', flag, () => false),
  wait: ofVisit('wait', WAIT, () => undefined),
  waits: ofVisit('waits', count, () => 0),
  lastFailure: ofVisit('last_failure', orNull(text), () => undefined),
  /** Undefined for the first phase. */
  ledBy: ofVisit('led_by', orNull(ledBy), () => undefined),
  previousArtifact: ofVisit('previous_artifact', orNull(text), () => undefined),
  approval: ofVisit('approval', orNull(approval), () => undefined),
  stopRequestedMs: ofRun('stop_requested', TIME, undefined),
  parentSession: given('parent_session_id', orNull(text)),
  hostSession: given('host_session', orNull(text)),
  startedMs: given('started_at', KNOWN_TIME),
  updatedMs: given('updated_at', KNOWN_TIME),
  inputs: given('inputs', recordOf(text)),
  /** Work on each phase (ms), without the time since `clockSinceMs`. */
  durations: ofRun('durations', counts, {}),
  clockSinceMs: ofRun('clock_since', TIME, undefined),
  skips: ofRun('skips', count, 0),
  phaseSkips: ofVisit('phase_skips', count, () => 0),
  prompts: ofRun('prompts', count, 0),
  sequence: ofRun('sequence', count, 0),
  visits: ofRun('visits', counts, {}),
  /** Granted by resumes, beyond `max_visits`. */
  visitsGranted: ofRun('visits_granted', count, 0),
  /** Phases that `resume --from` left early. */
  unfinished: ofRun('unfinished', recordOf(oneOf('open', 'skipped')), {}),
  stepsKnown: ofVisit('steps_known', flag, ({ steps }) => steps === undefined),
  takenSteps: ofVisit('taken_steps', orNull(listOf(readStep)), () => undefined),
  history: ofRun('history', HISTORY, []),
  /** Path in the root, or `example:` and a name; undefined if elsewhere. */
  definitionFile: given('definition_file', orNull(text)),
  definition: given('definition', DEFINITION),
}
