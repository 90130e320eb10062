import { known } from '../kernel/json-object.ts'
import { MAX_CHECKS } from '../kernel/limits.ts'
import { cut, inLine, stripControl } from '../kernel/text.ts'
import { toIso } from '../kernel/time.ts'
import { isMarkerId } from './task-folder.ts'

/** One line of the journal, which is a record. Only the verdict of `status` reads it, never a stop. */

export type JournalEvent =
  | 'create'
  | 'block'
  | 'clear'
  | 'check'
  | 'cap'
  | 'bypass'
  | 'bypass-request'
  | 'expire'
  | 'adopt'
  | 'claim'
  | 'step'
  | 'wait'
  | 'wait-end'
  | 'workflow'
  | 'error'

/** How a marker ended. */
export type MarkerOutcome = 'cleared' | 'capped' | 'bypassed' | 'expired' | 'unchecked'

export interface JournalEntry {
  readonly event: JournalEvent
  readonly outcome?: MarkerOutcome | undefined
  readonly markerId?: string | undefined
  /** The id of the marker that this one replaces. */
  readonly replaces?: string | undefined
  /** The id of the marker that is kept as abandoned, because its checks were not run. */
  readonly keeps?: string | undefined
  /** The ids of the abandoned markers that were removed. Each of our `clear` and `adopt` lines has the list, also an empty one. */
  readonly settles?: readonly (string | undefined)[] | undefined
  /** The name of the task folder; `.` for `specs/` itself. */
  readonly task?: string | undefined
  readonly hostSession?: string | undefined
  readonly agent?: string | undefined
  /** Continuations spent, this one included. */
  readonly count?: number | undefined
  /** The commands of checks: those that a marker has (`create`), or those that passed (`clear`). */
  readonly checks?: readonly string[] | undefined
  readonly detail?: string | undefined
}

/** An entry, and the root that has its journal. */
export interface Recorded {
  readonly root: string
  readonly entry: JournalEntry
}

/** The maximum length of a value: a line must fit one write, and a hostile marker must not fill the disk. */
export const VALUE_LIMIT = 500

/** At most this many abandoned markers are named in a line. */
const MAX_SETTLED = 100

/** The entry as a line of JSON with its time, in snake_case. */
export function formatJournalEntry(entry: JournalEntry, nowMs: number): string {
  const bounded = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : cut(stripControl(text), VALUE_LIMIT)
  return `${JSON.stringify(
    known({
      time: toIso(nowMs),
      event: entry.event,
      outcome: entry.outcome,
      marker_id: bounded(entry.markerId),
      replaces: bounded(entry.replaces),
      keeps: bounded(entry.keeps),
      settles: entry.settles?.filter(isMarkerId).slice(0, MAX_SETTLED),
      task: bounded(entry.task),
      host_session: bounded(entry.hostSession),
      agent: bounded(entry.agent),
      count: entry.count,
      checks: entry.checks?.length ? entry.checks.slice(0, MAX_CHECKS).map(bounded) : undefined,
      detail: bounded(entry.detail),
    }),
  )}\n`
}

/** A journal line that was read. Only its event is certain. */
export interface JournalLine {
  readonly event: string
  readonly [field: string]: unknown
}

/** Reads a journal line; undefined for any other line. */
export function parseJournalLine(line: string): JournalLine | undefined {
  try {
    const value = JSON.parse(line) as JournalLine
    if (typeof value.event === 'string') return value
  } catch {
    // Not JSON, or null, which has no properties.
  }
  return undefined
}

/** What only the hook does, or the plugin of a host. */
export const HOOK_EVENTS: readonly string[] = ['block', 'cap', 'bypass', 'expire', 'claim', 'wait-end']

/** The host sessions in which the hook did something. A stop that it allowed without a change is not in the journal. */
export function sessionsOfHook(lines: readonly JournalLine[]): Set<unknown> {
  return new Set(lines.flatMap(({ event, host_session }) => (HOOK_EVENTS.includes(event) ? [host_session] : [])))
}

/** Something that went wrong: the entries are not in the journal, or the journal is too long and could not be rotated. */
export interface JournalProblem {
  readonly kind: 'not-recorded' | 'not-rotated'
  /** The reason in words. */
  readonly detail: string
}

/** For stderr: an entry that could not be written to the journal, or a journal that could not be rotated. */
export function notInJournal({ kind, detail }: JournalProblem): string {
  const what = kind === 'not-recorded' ? 'not recorded in the journal' : 'the journal is too long and cannot be rotated'
  return inLine(`postflight: ${what}: ${detail}`)
}
