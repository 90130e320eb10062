import type { MarkerKind, MarkerView } from '../../marker/marker-view.ts'
import type { JournalLine } from '../../project/journal-entry.ts'
import type { RunStatus } from '../../run/machine/picture.ts'
import type { WorkflowState } from '../../run/machine/state.ts'
import type { HistoryEntry } from '../../run/machine/state-fields.ts'

export interface ReportSource {
  readonly root: string
  readonly nowMs: number
  readonly journal: readonly JournalLine[]
  readonly markers: readonly MarkerView[]
  readonly runs: readonly ReportRun[]
}

export type ReportRun = Readonly<{ task: string; state: WorkflowState; history: readonly HistoryEntry[] }>

export type MarkerStatus = MarkerKind | 'cleared' | 'replaced' | 'removed' | 'moved'
export type Status = MarkerStatus | RunStatus
export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'wait'

/** Its words are the status itself by default. */
export const STATUSES: Readonly<Record<Status, readonly [tone: Tone, words?: string]>> = {
  pending: ['warn'],
  waiting: ['wait'],
  cleared: ['good'],
  unchecked: ['bad', 'ended without its checks'],
  abandoned: ['bad'],
  bypassed: ['plain'],
  expired: ['plain'],
  replaced: ['plain'],
  removed: ['plain', 'removed by hand'],
  unreadable: ['bad'],
  running: ['warn'],
  completed: ['good'],
  skipped: ['bad', 'completed with skips'],
  stopped: ['plain'],
  stalled: ['bad'],
  failed: ['bad'],
  aborted: ['plain'],
  moved: ['plain', 'goes on elsewhere'],
}

export function toneOf(status: Status): Tone {
  return STATUSES[status][0]
}

export type StoryEvent = Readonly<{ timeMs: number; tone: Tone; words: string }>

export type Span = Readonly<{ startMs: number; endMs: number }>
