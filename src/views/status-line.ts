/** docs/views.md, "Status line". Pure. */

/** In the order of the line. */
const SIGNS = { waiting: '⏸', pending: '⚑', running: '▶', unusable: '!', abandoned: '✗' } as const

export type LineItem = Readonly<{ kind: keyof typeof SIGNS; isOurs: boolean; text: string }>

const NAMED_ITEMS = 3

export function statusLine(items: readonly LineItem[]): string {
  const rank = ({ kind }: LineItem): number => Object.keys(SIGNS).indexOf(kind)
  const ours = items.filter(({ isOurs }) => isOurs).sort((one, other) => rank(one) - rank(other))
  const others = items.length - ours.length
  return [
    ...ours.slice(0, NAMED_ITEMS).map(({ kind, text }) => `${SIGNS[kind]} ${text}`),
    ...(ours.length > NAMED_ITEMS ? [`+${ours.length - NAMED_ITEMS} more`] : []),
    ...(others > 0 ? [`+${others} elsewhere`] : []),
  ].join(' · ')
}
