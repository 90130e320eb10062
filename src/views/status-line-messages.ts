import { oneLine } from '../kernel/text.ts'

/** The parts of the status line, each a few characters wide. */
export const STATUS_LINE_TEXT = {
  pending: (task: string, operation: string | null): string =>
    `⚑ ${word(task)}${operation === null ? '' : ` ${oneLine(operation, 24)}`}`,
  steps: (done: number, total: number): string => `${done}/${total} steps`,
  blocked: (spent: number, limit: number): string => `blocked ${spent}/${limit}`,
  waits: (task: string, purpose: string): string => `⏸ ${word(task)} waits: ${oneLine(purpose, 40)}`,
  approval: (task: string, phase: string): string => `⏸ ${word(task)} waits for approval: ${oneLine(phase, 24)}`,
  running: (task: string, phase: string): string => `▶ ${word(task)} ${oneLine(phase, 24)}`,
  step: (step: number, total: number): string => `${step}/${total}`,
  atOnce: (count: number): string => `${count} at once`,
  attempt: (attempt: number, limit: number): string => `attempt ${attempt}/${limit}`,
  abandoned: (task: string): string => `✗ ${word(task)} abandoned`,
  unusable: (task: string): string => `! ${word(task)} unreadable`,
  more: (count: number): string => `+${count} more`,
  elsewhere: (count: number): string => `+${count} elsewhere`,
} as const

function word(task: string): string {
  return oneLine(task, 30)
}
