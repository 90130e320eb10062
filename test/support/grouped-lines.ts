/** Lists what was left out and why, in lines whose number does not grow with the cases: a line for each reason. */

/** At most this many reasons get a line of their own. */
const MAX_REASONS = 12
/** At most this many places of a reason are named. */
const MAX_PLACES = 6

export interface LeftOut {
  readonly place: string
  readonly why: string
}

/** The lines, in the order of the reasons' first cases. */
export function groupedLines(cases: readonly LeftOut[]): string[] {
  const byReason = new Map<string, string[]>()
  for (const { place, why } of cases) byReason.set(why, [...(byReason.get(why) ?? []), place])
  const reasons = [...byReason].map(([why, places]) => `  ${places.length}: ${why} (${named(places)})`)
  const more = reasons.length - MAX_REASONS
  if (more <= 0) return reasons
  const counts = [...byReason.values()].slice(MAX_REASONS).map(({ length }) => length)
  const total = counts.reduce((sum, count) => sum + count, 0)
  return [...reasons.slice(0, MAX_REASONS), `  ${total}: ${more} other reasons, which --reporter=verbose shows`]
}

function named(places: readonly string[]): string {
  const distinct = [...new Set(places)]
  const more = distinct.length - MAX_PLACES
  return `${distinct.slice(0, MAX_PLACES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
