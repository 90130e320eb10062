import { cut, inLine, stripControl } from '../kernel/text.ts'
import { toIso } from '../kernel/time.ts'
import { attempt, MAX_CHECKS } from '../kernel/values.ts'
import { isMarkerId } from './task-folder.ts'

/** Only the verdict of `status` reads it, never a stop. */

const BY_HOOK = ['block', 'cap', 'bypass', 'expire', 'claim', 'wait-end'] as const
const OTHERS = ['create', 'clear', 'check', 'bypass-request', 'adopt', 'step', 'wait', 'workflow', 'error'] as const
export const HOOK_EVENTS: readonly string[] = BY_HOOK

export interface JournalEntry {
  readonly event: (typeof BY_HOOK | typeof OTHERS)[number]
  readonly outcome?: 'cleared' | 'capped' | 'bypassed' | 'expired' | 'unchecked' | undefined
  readonly markerId?: string | undefined
  readonly replaces?: string | undefined
  /** Id of an abandoned marker: its checks were not run. */
  readonly keeps?: string | undefined
  /** In each of our `clear` and `adopt` lines, even if empty. */
  readonly settles?: readonly (string | undefined)[] | undefined
  /** `.` for `specs/` itself. */
  readonly task?: string | undefined
  readonly hostSession?: string | undefined
  readonly agent?: string | undefined
  readonly count?: number | undefined
  /** All (`create`), or those that passed (`clear`). */
  readonly checks?: readonly string[] | undefined
  readonly detail?: string | undefined
}

export type Recorded = Readonly<{ root: string; entry: JournalEntry }>

/** A line must fit into one write, and a hostile marker must not fill the disk. */
export const VALUE_LIMIT = 500

const MAX_SETTLED = 100

export function formatJournalEntry(entry: JournalEntry, nowMs: number): string {
  const line = {
    time: toIso(nowMs),
    event: entry.event,
    outcome: entry.outcome,
    marker_id: entry.markerId,
    replaces: entry.replaces,
    keeps: entry.keeps,
    settles: entry.settles?.filter(isMarkerId).slice(0, MAX_SETTLED),
    task: entry.task,
    host_session: entry.hostSession,
    agent: entry.agent,
    count: entry.count,
    checks: entry.checks?.length ? entry.checks.slice(0, MAX_CHECKS) : undefined,
    detail: entry.detail,
  }
  return `${JSON.stringify(line, bounded)}\n`
}

function bounded(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? cut(stripControl(value), VALUE_LIMIT) : value
}

/** Only its event is certain. */
export type JournalLine = Readonly<{ event: string; [field: string]: unknown }>

export function parseJournalLine(line: string): JournalLine | undefined {
  const value = attempt(() => JSON.parse(line) as JournalLine | null)
  return typeof value?.event === 'string' ? value : undefined
}

/** A stop that was allowed without a change is not in the journal. */
export function sessionsOfHook(lines: readonly JournalLine[]): Set<unknown> {
  return new Set(lines.flatMap(({ event, host_session }) => (HOOK_EVENTS.includes(event) ? [host_session] : [])))
}

export function notInJournal(problem: string, program: string): string {
  return inLine(`${program}: ${problem}`)
}
