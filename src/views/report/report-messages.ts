import { counted } from '../../kernel/text.ts'
import { isSessionFolderName } from '../../project/task-folders.ts'
import type { TransitionEvent } from '../../run/machine/state-fields.ts'
import type { Status } from './story.ts'

export function taskTitle(task: string): string {
  return isSessionFolderName(task) ? `definition of done (${task})` : task
}

interface EventFacts {
  readonly count: number | undefined
  readonly detail: string | undefined
  readonly outcome: string | undefined
}

/** An event that is not listed has its own name. */
const EVENT_WORDS: Readonly<Record<string, string>> = {
  create: 'marker created',
  clear: 'cleared',
  cap: 'gave up after the last blocked stop',
  bypass: 'bypassed',
  'bypass-request': 'bypass requested',
  expire: 'expired',
  adopt: 'taken over',
  claim: 'owner recorded',
  wait: 'waits',
  'wait-end': 'the wait ended',
}

/** "check failed: npm test". */
const SENTENCES: readonly string[] = ['check', 'step']

export function eventWords(event: string, { count, detail, outcome }: EventFacts): string {
  const words =
    event === 'block'
      ? `stop blocked${count === undefined ? '' : `: ${count} of 3`}`
      : event === 'clear' && outcome === 'unchecked'
        ? 'cleared without its checks'
        : (EVENT_WORDS[event] ?? event)
  if (detail === undefined) return words
  return `${words}${SENTENCES.includes(event) ? '' : ':'} ${detail}`
}

const TRANSITION_WORDS: Readonly<Record<TransitionEvent, string>> = {
  start: 'started',
  enter: 'entered',
  prompt: 'prompt sent',
  retry: 'attempt failed',
  'step-done': 'done',
  'step-failed': 'failed',
  'step-skipped': 'given up',
  pass: 'passed',
  fail: 'verdict: fail',
  warn: 'continued without a valid artifact',
  approval: 'waits for approval',
  approved: 'approved',
  rejected: 'rejected',
  'step-again': 'starts again with all its attempts',
  'phase-skipped': 'skipped',
  'stop-request': 'stop requested',
  resume: 'resumed',
  end: 'ended',
}

export function transitionWords(
  event: TransitionEvent,
  location: { readonly phase: string; readonly step: number | undefined; readonly attempt: number | undefined },
  rest: string | undefined,
): string {
  const { phase, step, attempt } = location
  const where = [
    phase,
    ...(step === undefined ? [] : [`step ${step}`]),
    ...(attempt === undefined || attempt === 1 ? [] : [`attempt ${attempt}`]),
  ].join(', ')
  return `${where}: ${TRANSITION_WORDS[event]}${rest === undefined ? '' : ` (${rest})`}`
}

const STATUS_WORDS: Partial<Record<Status, string>> = {
  unchecked: 'cleared unchecked',
  removed: 'removed by hand',
  skipped: 'completed with skips',
  moved: 'goes on elsewhere',
}

export function statusWords(status: Status): string {
  return STATUS_WORDS[status] ?? status
}

export const REPORT_TEXT = {
  title: 'Postflight report',
  utc: 'All times are UTC.',
  made: (time: string): string => `Generated ${time}. ${REPORT_TEXT.utc}`,
  nothing: 'No markers and no runs here yet.',
  figures: {
    cleared: 'markers cleared',
    givenUp: 'given up',
    blocked: 'stops blocked',
    waits: 'waits',
    completed: 'runs completed',
  },
  legend: {
    good: 'cleared, completed',
    goesOn: 'pending, running',
    bad: 'given up, failed, completed with skips',
    other: 'ended in another way',
    waitsNow: 'waiting now',
    wait: 'a wait',
    block: 'a stop was blocked',
    failure: 'a check failed, or it was given up',
  },
  waited: (time: string): string => `waits ${time}`,
  attention: 'Needs attention',
  timeline: 'Timeline',
  tasks: 'Tasks',
  otherEvents: 'Other events',
  others: (count: number): string => `${count} more`,
  leftOut: (count: number): string => `${counted(count, 'older task')} left out: postflight report <task> shows one`,
  marker: 'Marker',
  run: 'Run',
  events: (count: number): string => counted(count, 'event'),
  earlier: (count: number): string => `${counted(count, 'earlier event')} left out`,
  session: (session: string): string => `session ${session}`,
  agent: (agent: string): string => (agent === 'main' ? 'main conversation' : `agent ${agent}`),
  blocks: (count: number): string => `${counted(count, 'stop')} blocked`,
  waitsFor: (purpose: string): string => `waits for: ${purpose}`,
  approval: (phase: string): string => `a person to approve the result of ${phase}`,
  verdict: (verdict: string): string => `verdict ${verdict}`,
  waitCount: (count: number): string => counted(count, 'wait'),
  prompts: (count: number): string => counted(count, 'prompt'),
  worked: (time: string): string => `${time} of it worked`,
  skips: (count: number): string => `${count} skipped`,
  visits: (count: number): string => `${count} ×`,
  stepsDone: (done: number, all: number): string => `${done} of ${counted(all, 'step')}`,
  ofVisit: (visit: number, words: string): string => `visit ${visit}: ${words}`,
  attempts: (count: number): string => counted(count, 'attempt'),
  step: (number: number, name: string | undefined): string =>
    name === undefined ? `step ${number}` : `${number}. ${name}`,
  columns: ['Phase', 'Result', 'Prompts', 'Worked'],
  phase: (status: string, skips: number): string => (skips === 0 ? status : `${status}, ${REPORT_TEXT.skips(skips)}`),
  phaseStatuses: { done: 'done', running: 'running', failed: 'failed', skipped: 'skipped', waiting: 'to do' },
  check: (run: string, failed: string | undefined): string =>
    failed === undefined ? `check: ${run}` : `check: ${run}, failed the last time (${failed})`,
  graph: (name: string): string => `The phases of ${name}`,
  more: (count: number): string => `${counted(count, 'more phase')}`,
  written: (file: string, tasks: number): string => `wrote ${file}: ${counted(tasks, 'task')}`,
} as const
