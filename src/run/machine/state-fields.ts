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
  type Reader,
  recordOf,
  text,
  type Values,
  WRONG,
} from '../definition/fields.ts'
import type { Phase } from '../definition/phase-fields.ts'
import { readStep } from '../definition/steps.ts'

/** `moved`: it continues elsewhere, or is free to be continued (docs/shared-runs.md). */
export const RUN_OUTCOMES = ['completed', 'stopped', 'stalled', 'failed', 'aborted', 'moved'] as const

export type RunOutcome = (typeof RUN_OUTCOMES)[number]

export const TRANSITION_EVENTS = [
  ...(['start', 'enter', 'prompt', 'retry', 'step-done', 'step-failed', 'step-skipped'] as const),
  ...(['pass', 'fail', 'warn'] as const),
  ...(['stop-request', 'resume', 'end', 'approval', 'approved', 'rejected', 'step-again', 'phase-skipped'] as const),
] as const

export type TransitionEvent = (typeof TRANSITION_EVENTS)[number]

const step: Reader<number> = (value) => (typeof value === 'number' && value > MAX_PHASE_STEPS ? WRONG : count(value))

/** `step` and `attempt` count from 1. */
const TRANSITION_FIELDS = {
  event: { key: 'event', read: oneOf(...TRANSITION_EVENTS) },
  phase: { key: 'phase', read: text },
  visit: { key: 'visit', read: optional(count) },
  step: { key: 'step', read: optional(step) },
  attempt: { key: 'attempt', read: optional(count) },
  outcome: { key: 'outcome', read: optional(oneOf(...RUN_OUTCOMES)) },
  verdict: { key: 'verdict', read: optional(text) },
  detail: { key: 'detail', read: optional(text) },
}

type TransitionFields = Values<typeof TRANSITION_FIELDS>

export interface Transition
  extends Pick<TransitionFields, 'event' | 'phase'>,
    Partial<Omit<TransitionFields, 'event' | 'phase'>> {}

/** `n` counts from 1. */
export interface HistoryEntry extends Transition {
  readonly n: number
  readonly timeMs: number
}

export function historyFields({ n, timeMs, ...transition }: HistoryEntry): Record<string, unknown> {
  return { n, time: toIso(timeMs), ...transition }
}

const readEntry = objectOf({
  ...TRANSITION_FIELDS,
  n: { key: 'n', read: count },
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
  step: { key: 'step', read: count },
  attempts: { key: 'attempts', read: count },
  maxAttempts: { key: 'max_attempts', read: count },
  out: { key: 'out', read: flag },
  failure: { key: 'failure', read: optional(text) },
}

export interface StepInWork extends Values<typeof WORK_FIELDS> {}

const readStepInWork = objectOf(WORK_FIELDS)

const ENDED_FIELDS = {
  step: { key: 'step', read: count },
  attempts: { key: 'attempts', read: count },
  outcome: { key: 'outcome', read: oneOf('done', 'skipped') },
}

export interface EndedStep extends Values<typeof ENDED_FIELDS> {}

const readEndedStep = objectOf(ENDED_FIELDS)

interface Kind<T> {
  read: Reader<T>
  write(value: T): unknown
}

function given<T>(key: string, kind: Kind<T>) {
  return { key, ...kind, lifetime: 'given' } as const
}

function ofRun<T>(key: string, kind: Kind<T>, first: NoInfer<T>) {
  return { key, ...kind, lifetime: 'run', first: () => first } as const
}

/** Reset for each visit. */
function ofVisit<T>(key: string, kind: Kind<T>, first: (phase: Phase, visit: number) => NoInfer<T>) {
  return { key, ...kind, lifetime: 'visit', first } as const
}

function plain<T>(read: Reader<T>): Kind<T> {
  return { read, write: (value) => value }
}

function orNull<T>({ read, write }: Kind<T>): Kind<T | undefined> {
  return {
    read: (held) => (held === null ? undefined : read(held)),
    write: (value) => (value === undefined ? null : write(value)),
  }
}

const TEXT = plain(text)
const FLAG = plain(flag)
const COUNT = plain(count)

/** An unreadable time counts as unknown. */
const TIME = orNull<number | undefined>({
  read: (value) => (typeof value === 'string' ? fromIso(value) : WRONG),
  write: toIso,
})

const KNOWN_TIME: Kind<number> = { read: (value) => TIME.read(value) ?? 0, write: toIso }

const OUTCOME = orNull(
  plain((value) => (typeof value === 'string' ? RUN_OUTCOMES.find((one) => one === value) : WRONG)),
)

/** More steps would allow more prompts than the definition. */
const STEP_COUNT = plain(step)

const COUNTS = plain(recordOf(count))

const TEXTS = plain(listOf(text))
const STEPS = plain(listOf(readStep))

const VALUES = plain(recordOf(text))
const UNFINISHED = plain(recordOf(oneOf('open', 'skipped')))

function objects<T extends object>(table: Parameters<typeof keyed>[0], read: Reader<T>): Kind<readonly T[]> {
  return { read: listOf(read, MAX_PHASE_STEPS), write: (values) => values.map((one) => keyed(table, one)) }
}

/** `note`: the approval's note, or the reason for the rejection. */
const APPROVAL = plain(
  objectOf({
    standing: { key: 'standing', read: oneOf('asked', 'approved', 'rejected') },
    note: { key: 'note', read: optional(text) },
  }),
)

/** An unreadable wait counts as none. */
const WAIT = orNull<Wait | undefined>({
  read: (value) => (value === undefined ? WRONG : parseWait(value)),
  write: (wait) => wait && formatWait(wait),
})

const LED_BY = plain(
  objectOf({
    phase: { key: 'phase', read: text },
    verdict: { key: 'verdict', read: optional(text) },
    reason: { key: 'reason', read: optional(text) },
  }),
)

const HISTORY: Kind<readonly HistoryEntry[]> = {
  read: (value) => (Array.isArray(value) ? value.flatMap((one) => readHistoryEntry(one) ?? []) : WRONG),
  write: (entries) => entries.map(historyFields),
}

const DEFINITION: Kind<Definition> = {
  read: (value) => readDefinition(value) ?? WRONG,
  write: ({ snapshot }) => snapshot,
}

/**
 * The state's type, its file, a new run and a new visit follow from this table. In the order of the file; attempts and steps
 * count from 0.
 */
export const STATE_FIELDS = {
  /** Also in its run file and `workflow/id`. */
  id: given('id', TEXT),
  name: given('name', TEXT),
  active: ofRun('active', FLAG, true),
  outcome: ofRun('outcome', OUTCOME, undefined),
  why: ofRun('why', orNull(TEXT), undefined),
  /** Set by a person: the run no longer counts as unfinished. */
  settled: ofRun('settled', FLAG, false),
  phase: ofVisit('phase', TEXT, ({ id }) => id),
  stage: ofVisit('stage', plain(oneOf(...STAGES)), (_phase, visit) => (visit > 1 ? 'archiving' : 'entered')),
  phaseAttempts: ofVisit('phase_attempts', COUNT, () => 0),
  /** Grows with a resume: counts never decrease. */
  maxPhaseAttempts: ofVisit('max_phase_attempts', COUNT, (phase) => phase.maxAttempts),
  totalSteps: ofVisit('total_steps', STEP_COUNT, () => 0),
  inWork: ofVisit('in_work', objects(WORK_FIELDS, readStepInWork), () => []),
  /** No other archived file counts for this attempt. */
  archiving: ofVisit('archiving', TEXTS, () => []),
  endedSteps: ofVisit('ended_steps', objects(ENDED_FIELDS, readEndedStep), () => []),
  promptedMs: ofRun('prompted_at', TIME, undefined),
  /** For requests from before the prompt was sent. */
  repeats: ofRun('repeats', COUNT, 0),
  /** The host's id of the user's prompt that was being answered when ours was sent. */
  promptId: ofVisit('prompt_id', orNull(TEXT), () => undefined),
  shells: ofVisit('shells', TEXTS, () => []),
  /**
   * The host's id of the prompt with which the person interrupted: its stops are allowed, the first stop of another
   * prompt repeats ours. After a restart it equals `prompt_id`: no stop is allowed first.
   */
  heardPromptId: ofVisit('heard_prompt_id', orNull(TEXT), () => undefined),
  interruptions: ofVisit('interruptions', COUNT, () => 0),
  askedToWait: ofVisit('asked_to_wait', FLAG, () => false),
  wait: ofVisit('wait', WAIT, () => undefined),
  waits: ofVisit('waits', COUNT, () => 0),
  lastFailure: ofVisit('last_failure', orNull(TEXT), () => undefined),
  /** Undefined for the first phase. */
  ledBy: ofVisit('led_by', orNull(LED_BY), () => undefined),
  /** Path in the task folder. */
  previousArtifact: ofVisit('previous_artifact', orNull(TEXT), () => undefined),
  approval: ofVisit('approval', orNull(APPROVAL), () => undefined),
  stopRequestedMs: ofRun('stop_requested', TIME, undefined),
  parentSession: given('parent_session_id', orNull(TEXT)),
  hostSession: given('host_session', orNull(TEXT)),
  startedMs: given('started_at', KNOWN_TIME),
  updatedMs: given('updated_at', KNOWN_TIME),
  inputs: given('inputs', VALUES),
  /** Work on each phase (ms), without the time since `clockSinceMs`. */
  durations: ofRun('durations', COUNTS, {}),
  clockSinceMs: ofRun('clock_since', TIME, undefined),
  skips: ofRun('skips', COUNT, 0),
  phaseSkips: ofVisit('phase_skips', COUNT, () => 0),
  prompts: ofRun('prompts', COUNT, 0),
  sequence: ofRun('sequence', COUNT, 0),
  visits: ofRun('visits', COUNTS, {}),
  /** Granted by resumes, beyond `max_visits`. */
  visitsGranted: ofRun('visits_granted', COUNT, 0),
  /** Phases that `resume --from` left early. */
  unfinished: ofRun('unfinished', UNFINISHED, {}),
  stepsKnown: ofVisit('steps_known', FLAG, ({ steps }) => steps === undefined),
  takenSteps: ofVisit('taken_steps', orNull(STEPS), () => undefined),
  history: ofRun('history', HISTORY, []),
  /** Path in the root, or `example:` and a name; undefined if elsewhere. */
  definitionFile: given('definition_file', orNull(TEXT)),
  definition: given('definition', DEFINITION),
}
