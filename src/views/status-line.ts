import { STATUS_LINE_TEXT as TEXT } from './status-line-messages.ts'

/** The line for a host's status line (docs/views.md, "Status line"). Pure. */

/** Something to show. */
export interface LineItem {
  readonly kind: 'pending' | 'waiting' | 'running' | 'abandoned' | 'unusable'
  /** True for an item of the session that the line belongs to, and for one without a session. */
  readonly isOurs: boolean
  readonly text: string
}

/** Items beyond this number are counted, not named. */
const NAMED_ITEMS = 3

/** The kinds in the order of the line: first what waits for the user, last what is over. */
const ORDER: readonly LineItem['kind'][] = ['waiting', 'pending', 'running', 'unusable', 'abandoned']

/** The line: the session's own items by name, the others as a number. Empty where there are no items. */
export function statusLine(items: readonly LineItem[]): string {
  const rank = ({ kind }: LineItem): number => ORDER.indexOf(kind)
  const ours = items.filter(({ isOurs }) => isOurs).sort((one, other) => rank(one) - rank(other))
  const others = items.length - ours.length
  return [
    ...ours.slice(0, NAMED_ITEMS).map(({ text }) => text),
    ...(ours.length > NAMED_ITEMS ? [TEXT.more(ours.length - NAMED_ITEMS)] : []),
    ...(others > 0 ? [TEXT.elsewhere(others)] : []),
  ].join(' · ')
}
