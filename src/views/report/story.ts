import type { JournalLine } from '../../project/journal-entry.ts'
import type { HistoryEntry } from '../../run/machine/history.ts'
import type { WorkflowState } from '../../run/machine/state.ts'

/** The story of a project, as data for `postflight report`. */

/** The sources of a report. */
export interface ReportSource {
  readonly root: string
  readonly nowMs: number
  readonly journal: readonly JournalLine[]
  readonly markers: readonly ReportMarker[]
  readonly runs: readonly ReportRun[]
}

/** A marker that lies in a task folder now. */
export interface ReportMarker {
  readonly task: string
  readonly id: string | undefined
  readonly state: 'pending' | 'bypassed' | 'expired' | 'abandoned' | 'unchecked' | 'unreadable'
  readonly operation: string | undefined
  readonly skill: string | undefined
  readonly promisedMs: number | undefined
  readonly waitsFor: string | undefined
  readonly steps: readonly { readonly name: string; readonly done: boolean }[]
  readonly checks: readonly { readonly run: string; readonly failed: string | undefined }[]
}

/** A run of a workflow, with all of its history. */
export interface ReportRun {
  readonly task: string
  readonly state: WorkflowState
  readonly history: readonly HistoryEntry[]
}

/** How a promise stands, or how it ended. `removed`: its marker is gone, and no command recorded why. */
export type PromiseStanding =
  | 'pending'
  | 'waiting'
  | 'cleared'
  | 'unchecked'
  | 'abandoned'
  | 'bypassed'
  | 'expired'
  | 'replaced'
  | 'removed'
  | 'unreadable'

/** The importance of an event. */
export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'wait'

/** Something that happened. */
export interface StoryEvent {
  readonly timeMs: number
  readonly tone: Tone
  readonly words: string
}

/** The story of a promise. */
export interface PromiseStory {
  readonly id: string | undefined
  readonly operation: string | undefined
  readonly skill: string | undefined
  readonly session: string | undefined
  readonly agent: string | undefined
  readonly standing: PromiseStanding
  readonly startMs: number
  /** The end; the time of the report for a promise that is pending. */
  readonly endMs: number
  readonly blocks: number
  readonly waits: readonly Span[]
  readonly events: readonly StoryEvent[]
  readonly steps: ReportMarker['steps']
  readonly checks: ReportMarker['checks']
}

/** A time from one moment to another. */
export interface Span {
  readonly startMs: number
  readonly endMs: number
}

/** A visit of a phase. `failed`: its verdict was `fail`. `stuck`: the run ended in it without its result. */
export interface VisitStory extends Span {
  readonly phase: string
  readonly visit: number
  readonly prompts: number
  readonly result: 'passed' | 'failed' | 'running' | 'stuck'
}

/** A step of a phase. */
export interface StepStory {
  readonly number: number
  readonly name: string | undefined
  readonly attempts: number
  readonly result: 'done' | 'skipped' | 'failed' | 'open'
  readonly durationMs: number | undefined
}

/** The steps of one visit of a phase. */
export interface VisitSteps {
  readonly visit: number
  readonly steps: readonly StepStory[]
}

/** The story of a phase. */
export interface PhaseStory {
  readonly id: string
  readonly standing: 'done' | 'running' | 'failed' | 'skipped' | 'waiting'
  readonly artifact: string | undefined
  readonly check: string | undefined
  readonly visits: number
  readonly prompts: number
  /** The working time, as `workflow status` tells it: not while the run is stopped or waits for approval. */
  readonly workedMs: number
  /** Of each visit that had steps. */
  readonly steps: readonly VisitSteps[]
}

/** The story of a run. */
export interface RunStory extends Span {
  readonly name: string
  readonly standing: 'running' | 'waiting' | 'completed' | 'skipped' | 'stopped' | 'stalled' | 'failed' | 'aborted'
  readonly why: string | undefined
  readonly waitsFor: string | undefined
  readonly session: string | undefined
  /** The working time of all phases; the span also has the times in which the run was stopped or waited for approval. */
  readonly workedMs: number
  readonly prompts: number
  readonly skips: number
  readonly phases: readonly PhaseStory[]
  readonly visits: readonly VisitStory[]
  readonly events: readonly StoryEvent[]
  readonly definition: WorkflowState['definition']
  readonly state: WorkflowState
}

/** The story of a task. */
export interface TaskStory extends Span {
  readonly task: string
  readonly promises: readonly PromiseStory[]
  readonly runs: readonly RunStory[]
}

/** The story of a project. The task of the last change comes first. */
export interface Report {
  readonly root: string
  readonly nowMs: number
  readonly tasks: readonly TaskStory[]
  /** Events that belong to no promise: errors, and what runs recorded in the journal. */
  readonly others: readonly (StoryEvent & { readonly task: string | undefined })[]
  /** The number of older tasks that were left out. */
  readonly leftOut: number
}
