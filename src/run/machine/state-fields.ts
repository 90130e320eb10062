import { isJsonObject } from '../../kernel/json-object.ts'
import { fromIso, toIso } from '../../kernel/time.ts'
import { formatWait, parseWait, type Wait } from '../../marker/marker-wait.ts'
import { type Definition, readDefinition } from '../definition/definition.ts'
import { MAX_PHASE_STEPS } from '../definition/definition-limits.ts'
import {
  count,
  flag,
  listOf,
  objectOf,
  oneOf,
  optional,
  type Reader,
  text,
  type Values,
  WRONG,
} from '../definition/fields.ts'
import type { Phase } from '../definition/phase-fields.ts'
import { readStep } from '../definition/steps.ts'
import { type HistoryEntry, historyFields, RUN_OUTCOMES, readHistoryEntry } from './history.ts'

/**
 * The fields of a run's state: for each one its name in the code, its key in the state file, its kind and its first value.
 * The type of the state, the file, a new run and a new visit of a phase follow from this table.
 */

/** A step in progress: from its first prompt until it is done or given up. */
export const WORK_FIELDS = {
  step: { key: 'step', read: count },
  /** The failed attempts. */
  attempts: { key: 'attempts', read: count },
  /** Grows with a resume after the attempts were spent. */
  maxAttempts: { key: 'max_attempts', read: count },
  /** True while its prompt is out. */
  out: { key: 'out', read: flag },
  /** What was wrong with its last result. */
  failure: { key: 'failure', read: optional(text) },
}

/** A step in progress. */
export interface StepInWork extends Values<typeof WORK_FIELDS> {}

export const readStepInWork = objectOf(WORK_FIELDS)

/** A step that has ended, with the number of its attempts. */
export const ENDED_FIELDS = {
  step: { key: 'step', read: count },
  attempts: { key: 'attempts', read: count },
  outcome: { key: 'outcome', read: oneOf('done', 'skipped') },
}

/** A step that has ended. */
export interface EndedStep extends Values<typeof ENDED_FIELDS> {}

export const readEndedStep = objectOf(ENDED_FIELDS)

/** Reads and writes a field of the state file. */
interface Kind<T> {
  read: Reader<T>
  write(value: T): unknown
}

/** A field whose first value is given to `newState`. */
function given<T>(key: string, kind: Kind<T>) {
  return { key, ...kind, lifetime: 'given' } as const
}

/** A field that is `first` at the start of a run. */
function ofRun<T>(key: string, kind: Kind<T>, first: NoInfer<T>) {
  return { key, ...kind, lifetime: 'run', first } as const
}

/** A field that is reset for each visit of a phase. Visits count from 1. */
function ofVisit<T>(key: string, kind: Kind<T>, first: (phase: Phase, visit: number) => NoInfer<T>) {
  return { key, ...kind, lifetime: 'visit', first } as const
}

function plain<T>(read: Reader<T>): Kind<T> {
  return { read, write: (value) => value }
}

/** The same kind for a field that may be null in the file. */
function orNull<T>({ read, write }: Kind<T>): Kind<T | undefined> {
  return {
    read: (held) => (held === null ? undefined : read(held)),
    write: (value) => (value === undefined ? null : write(value)),
  }
}

const TEXT = plain(text)
const FLAG = plain(flag)
const COUNT = plain(count)

/** A time. An unreadable one counts as unknown. */
const TIME = orNull<number | undefined>({
  read: (held) => (typeof held === 'string' ? fromIso(held) : WRONG),
  write: toIso,
})

const KNOWN_TIME: Kind<number> = { read: (held) => TIME.read(held) ?? 0, write: toIso }

const OUTCOME = orNull(plain((held) => (typeof held === 'string' ? RUN_OUTCOMES.find((one) => one === held) : WRONG)))

/** A number of steps. More than the maximum would allow more prompts than the definition does. */
const STEP_COUNT = plain((held) => (typeof held === 'number' && held > MAX_PHASE_STEPS ? WRONG : count(held)))

const COUNTS = plain((held) =>
  isJsonObject(held) && Object.values(held).every((one) => count(one) !== WRONG)
    ? (held as Readonly<Record<string, number>>)
    : WRONG,
)

const TEXTS = plain(listOf(text))
const STEPS = plain(listOf(readStep))

const VALUES: Kind<Readonly<Record<string, string>>> = plain((held) =>
  isJsonObject(held) && Object.values(held).every((one) => typeof one === 'string')
    ? (held as Readonly<Record<string, string>>)
    : WRONG,
)

const UNFINISHED = plain((held) =>
  isJsonObject(held) && Object.values(held).every((one) => one === 'open' || one === 'skipped')
    ? (held as Readonly<Record<string, 'open' | 'skipped'>>)
    : WRONG,
)

type FieldTable = Readonly<Record<string, { readonly key: string }>>

/** A list of objects with the fields of a table. */
function objects<T extends object>(table: FieldTable, read: Reader<T>): Kind<readonly T[]> {
  return { read: listOf(read, MAX_PHASE_STEPS), write: (values) => values.map((one) => keyed(table, one)) }
}

/** The values under their keys in the file. */
function keyed(table: FieldTable, values: object): object {
  return Object.fromEntries(
    Object.entries(table).map(([name, { key }]) => [key, (values as Readonly<Record<string, unknown>>)[name]]),
  )
}

/** The approval of the phase's artifact by a person; `note` is the note of an approval, or the reason for a rejection. */
const APPROVAL = plain(
  objectOf({
    standing: { key: 'standing', read: oneOf('asked', 'approved', 'rejected') },
    note: { key: 'note', read: optional(text) },
  }),
)

/** An announced wait. An unreadable one counts as none. */
const WAIT = orNull<Wait | undefined>({
  read: (held) => (held === undefined ? WRONG : parseWait(held)),
  write: (wait) => wait && formatWait(wait),
})

const LED_BY = plain(
  objectOf({
    phase: { key: 'phase', read: text },
    verdict: { key: 'verdict', read: optional(text) },
    reason: { key: 'reason', read: optional(text) },
  }),
)

/** The history. Unreadable entries are left out. */
const HISTORY: Kind<readonly HistoryEntry[]> = {
  read: (held) => (Array.isArray(held) ? held.flatMap((one) => readHistoryEntry(one) ?? []) : WRONG),
  write: (entries) => entries.map(historyFields),
}

const DEFINITION: Kind<Definition> = {
  read: (held) => readDefinition(held) ?? WRONG,
  write: ({ snapshot }) => snapshot,
}

/** The fields of the state, in the order of the file. Attempts and steps count from 0. */
export const STATE_FIELDS = {
  /** The id of the run, which its run file and `workflow/id` repeat. */
  id: given('id', TEXT),
  name: given('name', TEXT),
  active: ofRun('active', FLAG, true),
  outcome: ofRun('outcome', OUTCOME, undefined),
  /** The reason for the outcome, as a sentence. */
  why: ofRun('why', orNull(TEXT), undefined),
  /** True once a person has settled the ended run: it no longer counts as unfinished. A resume drops it. */
  settled: ofRun('settled', FLAG, false),
  phase: ofVisit('phase', TEXT, ({ id }) => id),
  /** The failed attempts at the phase's own prompt in this visit. */
  phaseAttempts: ofVisit('phase_attempts', COUNT, () => 0),
  /** Grows with each resume after the attempts were spent, because no count ever goes back. */
  maxPhaseAttempts: ofVisit('max_phase_attempts', COUNT, (phase) => phase.maxAttempts),
  totalSteps: ofVisit('total_steps', STEP_COUNT, () => 0),
  /** The steps that were handed out and have not ended, by number: one, or up to `parallel`. */
  inWork: ofVisit('in_work', objects(WORK_FIELDS, readStepInWork), () => []),
  /** The names in the archive of the results that are being moved there: no other file there is a result of this attempt. */
  archiving: ofVisit('archiving', TEXTS, () => []),
  endedSteps: ofVisit('ended_steps', objects(ENDED_FIELDS, readEndedStep), () => []),
  /** True after the prompt for the current attempt went out. */
  prompted: ofVisit('prompted', FLAG, () => false),
  /** The time at which the last prompt went out. */
  promptedMs: ofRun('prompted_at', TIME, undefined),
  /** The number of times that the prompt was repeated for requests from before it went out. */
  repeats: ofRun('repeats', COUNT, 0),
  /** The host's id of the prompt in whose chain of stops the prompt went out. */
  promptId: ofVisit('prompt_id', orNull(TEXT), () => undefined),
  /** The ids of the shells that ran in the background then. */
  shells: ofVisit('shells', TEXTS, () => []),
  /** True once the main conversation has stopped after the prompt went out. */
  cameBack: ofVisit('came_back', FLAG, () => false),
  /**
   * The host's id of the prompt with which the person interrupted the run: its stops are allowed, and at the first stop of
   * another prompt the run's prompt goes out again. After a restart of the session, the id in `prompt_id`: then no stop is
   * allowed first.
   */
  heardPromptId: ofVisit('heard_prompt_id', orNull(TEXT), () => undefined),
  /** The number of times that a prompt went out again because it was interrupted. */
  interruptions: ofVisit('interruptions', COUNT, () => 0),
  /** True once the agent was asked whether it waits for shells in the background. */
  askedToWait: ofVisit('asked_to_wait', FLAG, () => false),
  /** What the agent announced that it waits for, and the number of waits that are over. */
  wait: ofVisit('wait', WAIT, () => undefined),
  waits: ofVisit('waits', COUNT, () => 0),
  /** True in a phase that was entered again, until its old artifact is archived. */
  clearing: ofVisit('clearing', FLAG, (_phase, visit) => visit > 1),
  /** True after the first prompt of this visit. */
  begun: ofVisit('begun', FLAG, () => false),
  lastFailure: ofVisit('last_failure', orNull(TEXT), () => undefined),
  /** The phase that led here, with its verdict and the reason for it; undefined for the first phase. */
  ledBy: ofVisit('led_by', orNull(LED_BY), () => undefined),
  /** The archived artifact of the phase's last visit, as a path in the task folder. */
  previousArtifact: ofVisit('previous_artifact', orNull(TEXT), () => undefined),
  /** The standing of the approval that the phase needs. */
  approval: ofVisit('approval', orNull(APPROVAL), () => undefined),
  stopRequestedMs: ofRun('stop_requested', TIME, undefined),
  parentSession: given('parent_session_id', orNull(TEXT)),
  hostSession: given('host_session', orNull(TEXT)),
  startedMs: given('started_at', KNOWN_TIME),
  updatedMs: given('updated_at', KNOWN_TIME),
  /** The values of the definition's inputs. */
  inputs: given('inputs', VALUES),
  /**
   * The time (ms) for which the run worked on each phase, and the time from which work on the current phase is not
   * counted yet.
   */
  durations: ofRun('durations', COUNTS, {}),
  clockSinceMs: ofRun('clock_since', TIME, undefined),
  /** The number of steps and artifacts that were skipped. */
  skips: ofRun('skips', COUNT, 0),
  /** The number of steps that were given up in this visit. */
  phaseSkips: ofVisit('phase_skips', COUNT, () => 0),
  /** The number of prompts that were sent. */
  prompts: ofRun('prompts', COUNT, 0),
  /** The number of the last transition. */
  sequence: ofRun('sequence', COUNT, 0),
  /** The number of visits of each phase. */
  visits: ofRun('visits', COUNTS, {}),
  /** The number of visits that resumes have granted beyond `max_visits`. */
  visitsGranted: ofRun('visits_granted', COUNT, 0),
  /** The phases that `resume --from` left before they were over: those that were skipped, and those that stay open. */
  unfinished: ofRun('unfinished', UNFINISHED, {}),
  /** True once the phase's steps are known in this visit. */
  stepsKnown: ofVisit('steps_known', FLAG, ({ steps }) => steps === undefined),
  /** A copy of the steps that were taken from an artifact. */
  takenSteps: ofVisit('taken_steps', orNull(STEPS), () => undefined),
  history: ofRun('history', HISTORY, []),
  definition: given('definition', DEFINITION),
}
