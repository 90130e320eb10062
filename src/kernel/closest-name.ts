import { quote } from './phrases.ts'

export function suggestion(
  name: string,
  known: readonly string[],
  shown = (one: string): string => `"${one}"`,
): string {
  const closest = closestName(name, known)
  return closest === undefined ? '' : ` (did you mean ${shown(quote(closest, 80))}?)`
}

export function closestName(name: string, known: readonly string[]): string | undefined {
  const [closest] = known
    .filter((one) => Math.abs(one.length - name.length) * 3 <= one.length)
    .map((one) => ({ one, edits: editsBetween(name, one) }))
    .filter(({ one, edits }) => edits * 3 <= one.length)
    .sort((a, b) => a.edits - b.edits)
  return closest?.one
}

function editsBetween(from: string, to: string): number {
  let beforeLast: readonly number[] = []
  let last: readonly number[] = [...Array(to.length + 1).keys()]
  for (let i = 0; i < from.length; i += 1) {
    const row = [i + 1]
    for (let j = 0; j < to.length; j += 1) {
      // Before its beginning a text has no character, which equals none of the other.
      const isSwapped = from[i] === to[j - 1] && from[i - 1] === to[j]
      row.push(
        Math.min(
          Number(row[j]) + 1,
          Number(last[j + 1]) + 1,
          Number(last[j]) + (from[i] === to[j] ? 0 : 1),
          isSwapped ? Number(beforeLast[j - 1]) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    beforeLast = last
    last = row
  }
  return Number(last.at(-1))
}
