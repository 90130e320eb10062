import { oneLine } from '../kernel/text.ts'

/** docs/views.md, "Status line". Pure. */

export interface LineItem {
  readonly kind: 'pending' | 'waiting' | 'running' | 'abandoned' | 'unusable'
  readonly isOurs: boolean
  readonly text: string
}

const NAMED_ITEMS = 3

const ORDER: readonly LineItem['kind'][] = ['waiting', 'pending', 'running', 'unusable', 'abandoned']

export function statusLine(items: readonly LineItem[]): string {
  const rank = ({ kind }: LineItem): number => ORDER.indexOf(kind)
  const ours = items.filter(({ isOurs }) => isOurs).sort((one, other) => rank(one) - rank(other))
  const others = items.length - ours.length
  return [
    ...ours.slice(0, NAMED_ITEMS).map(({ text }) => text),
    ...(ours.length > NAMED_ITEMS ? [STATUS_LINE_TEXT.more(ours.length - NAMED_ITEMS)] : []),
    ...(others > 0 ? [STATUS_LINE_TEXT.elsewhere(others)] : []),
  ].join(' · ')
}

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
