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
    ...(ours.length > NAMED_ITEMS ? [`+${ours.length - NAMED_ITEMS} more`] : []),
    ...(others > 0 ? [`+${others} elsewhere`] : []),
  ].join(' · ')
}

export function waitText(task: string, purpose: string): string {
  return `⏸ ${task} waits: ${oneLine(purpose, 40)}`
}

export function unreadableText(task: string): string {
  return `! ${task} unreadable`
}
