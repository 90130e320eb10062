import { toIso } from '../../../src/kernel/time.ts'
import type { MarkerView } from '../../../src/marker/marker-view.ts'
import { formatJournalEntry, type JournalEntry, parseJournalLine } from '../../../src/project/journal-entry.ts'
import { type Definition, readDefinition } from '../../../src/run/definition/definition.ts'
import type { Phase } from '../../../src/run/definition/phase-fields.ts'
import type { WorkflowState } from '../../../src/run/machine/state.ts'
import { composeReport, type Report } from '../../../src/views/report/compose.ts'
import type { RunStory } from '../../../src/views/report/run-story.ts'
import type { ReportRun } from '../../../src/views/report/story.ts'

/** Reports for tests, made from entries of the journal, markers and runs. */

export const MINUTE = 60_000
export const NOW = Date.UTC(2026, 10, 22, 12, 0, 0)
export const TASK = '259_x'

/** Minutes from an hour before the report, the event, and what else the journal has of it. */
export type Entry = readonly [at: number, event: JournalEntry['event'], more?: Partial<Omit<JournalEntry, 'event'>>]

export const CREATED: Entry = [0, 'create', { markerId: 'pf_1' }]

export function journalAt(at: number): number {
  return NOW + (at - 60) * MINUTE
}

/** A report of journal entries, markers and runs. */
export function reportOf(
  entries: readonly Entry[],
  markers: readonly MarkerView[] = [],
  runs: readonly ReportRun[] = [],
): Report {
  const journal = entries.flatMap(([at, event, more]) => {
    const outcome = event === 'clear' ? 'cleared' : undefined
    const line = parseJournalLine(formatJournalEntry({ task: TASK, event, outcome, ...more }, journalAt(at)))
    return line === undefined ? [] : [line]
  })
  return composeReport({ root: '/home/me/project', nowMs: NOW, journal, markers, runs })
}

export function reportOfRun(state: WorkflowState, history = state.history): Report {
  return reportOf([], [], [{ task: TASK, state, history }])
}

export function runOf(state: WorkflowState, history = state.history): RunStory {
  return known(reportOfRun(state, history).tasks[0]?.runs[0])
}

export function phaseOf({ definition }: WorkflowState, id: string): Phase {
  return known(definition.phases.find((phase) => phase.id === id))
}

/** The limits of a phase in a test of the report. */
export const LIMITS = { gate: 'strict', max_attempts: 3, max_visits: 3, max_step_attempts: 3, on_exhausted: 'skip' }

export function definitionOf(name: string, phases: readonly object[]): Definition {
  return known(readDefinition({ name, phases: phases.map((phase) => ({ ...LIMITS, ...phase })) }))
}

export function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('not there')
  return value
}

/** A pending marker that was made an hour before the report. */
export function reportMarker(more: Partial<MarkerView> = {}): MarkerView {
  return {
    ...{ task: TASK, id: 'pf_1', state: 'pending', operation: 'research', skill: null },
    ...{ path: '', relative_path: '', reason: null, age_ms: null, continuations: { spent: 0, limit: 3 }, problems: [] },
    owner: { host_session: null, agent: null, agent_type: null },
    ...{ outcome: null, promised_at: toIso(journalAt(0)), wait: null, steps: [], checks: [], ...more },
  }
}

/** One step of two is done, and the first of two checks failed. */
export const WORK: Pick<MarkerView, 'steps' | 'checks'> = {
  steps: [
    { name: 'one', done: true },
    { name: 'two', done: false },
  ],
  checks: [
    { run: 'npm test', step: null, failed: 'exit code 1' },
    { run: 'npm run lint', step: null, failed: null },
  ],
}
