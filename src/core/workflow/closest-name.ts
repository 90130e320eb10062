/** Suggests a known name for a mistyped one. */

/** The maximum number of edits between a name and a mistyped one. */
const MAX_EDITS = 2

/** The known name that is closest to `name`; undefined if none is close. */
export function closestName(name: string, known: readonly string[]): string | undefined {
  const [closest] = known
    .filter((one) => Math.abs(one.length - name.length) <= MAX_EDITS)
    .map((one) => ({ one, edits: editsBetween(name, one) }))
    .filter(({ one, edits }) => edits <= MAX_EDITS && edits * 2 <= one.length)
    .sort((a, b) => a.edits - b.edits)
  return closest?.one
}

/** The Levenshtein distance: characters to insert, remove or replace. */
function editsBetween(from: string, to: string): number {
  let row = [...Array(to.length + 1).keys()]
  for (let i = 0; i < from.length; i += 1) {
    const next = [i + 1]
    for (let j = 0; j < to.length; j += 1) {
      const replaced = Number(row[j]) + (from[i] === to[j] ? 0 : 1)
      next.push(Math.min(replaced, Number(row[j + 1]) + 1, Number(next[j]) + 1))
    }
    row = next
  }
  return Number(row[to.length])
}
