import { counted } from '../../kernel/text.ts'
import { toIso } from '../../kernel/time.ts'
import { taskLabel } from '../../project/task-folder.ts'
import { isSessionFolderName } from '../../project/task-folders.ts'
import { type Span, STATUSES, type Status } from './story.ts'

export function taskTitle(task: string): string {
  return isSessionFolderName(task) ? `definition of done (${task})` : taskLabel(task)
}

export function statusWords(status: Status): string {
  return STATUSES[status][1] ?? status
}

export const REPORT_TEXTS = {
  nothingYet: 'No markers and no runs here yet.',
  otherEvents: 'Other events',
  timeZone: 'All times are UTC.',
  leftOut: (count: number) => `${counted(count, 'older task')} left out: postflight report <task> shows one`,
} as const

export function lengthOf({ startMs, endMs }: Span): string {
  return duration(endMs - startMs)
}

/** `2026-11-22 14:03:22`. */
export function clock(timeMs: number): string {
  return toIso(timeMs).slice(0, 19).replace('T', ' ')
}

/** A length of time in at most two units: `850 ms`, `12 s`, `5 min 3 s`, `2 h 5 min`, `3 days 4 h`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  const seconds = Math.round(ms / 1000)
  const units = [
    counted(Math.floor(seconds / 86_400), 'day'),
    `${Math.floor(seconds / 3600) % 24} h`,
    `${Math.floor(seconds / 60) % 60} min`,
    `${seconds % 60} s`,
  ]
  const isSome = (unit: string): boolean => !unit.startsWith('0 ')
  const first = units.findIndex(isSome)
  const shown = units.slice(first, first + 2).filter(isSome)
  return shown.join(' ')
}

export function runTimes(run: Span & { readonly workedMs: number }): string[] {
  const whole = lengthOf(run)
  const worked = duration(run.workedMs)
  return whole === worked ? [whole] : [whole, `${worked} of it worked`]
}
