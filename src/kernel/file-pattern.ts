/** File patterns may come with a repository, so the work of matching them is bounded. */

export const MAX_ALTERNATIVES = 300

/**
 * Counts each `**`, and each `*` of a name after its first. A matcher tries all ways to share the folders and
 * characters among them, so its time grows with the path's length to the power of their number (measured with a path of
 * 14 folders of 240 characters: 3 take 40 ms, 4 more than 20 s).
 */
const MAX_STARS = 3

const MAX_STARS_IN_NAMES = 2

export const PATTERNS_TOO_WIDE = `the patterns must have at most ${MAX_ALTERNATIVES} alternatives ({a,b}) in all, no ranges ({1..9}), and in each pattern at most ${MAX_STARS} of these: "**", and any "*" after the first in a name (at most two of the latter)`

const BRACES = /(?<!\\)\{((?:[^{}\\]|\\.)*)(?<!\\)\}/

/** Equal patterns are expanded once: otherwise `{a,aa}{a,aa}…`, of which few differ, takes exponential time. */
export function expandPatterns(patterns: readonly string[]): string[] | undefined {
  const expanded = new Set(patterns.map((one) => one.replace(/^(?:\.\/)+/, '').replace(/[()|+]/g, '\\$&')))
  // The loop also reaches what it adds.
  for (const pattern of expanded) {
    if (expanded.size > MAX_ALTERNATIVES) return undefined
    const found = BRACES.exec(pattern)
    if (found === null) continue
    expanded.delete(pattern)
    const inner = found[1] as string
    const [before, after] = [pattern.slice(0, found.index), pattern.slice(found.index + found[0].length)]
    const alternatives = inner.split(',')
    if (alternatives.length > MAX_ALTERNATIVES) return undefined
    if (alternatives.length > 1) for (const one of alternatives) expanded.add(before + one + after)
    else if (inner.includes('..')) return undefined
    else expanded.add(`${before}\\{${inner}\\}${after}`)
  }
  // An empty alternative names nothing, and fast-glob throws for it. An absolute one (`{/,src}`) leads out of the root.
  const result = [...expanded].filter((one) => /^[^/]/.test(one)).map((one) => one.replace(/\/$/, '/**'))
  return result.every(isBounded) ? result : undefined
}

function isBounded(pattern: string): boolean {
  const names = pattern.split('/')
  // Alternatives may combine to `..`, which leads out of the root.
  if (names.includes('..')) return false
  const folders = names.filter((name) => name === '**').length
  const further = names
    .filter((name) => name !== '**')
    .reduce((sum, name) => sum + Math.max(0, name.split('*').length - 2), 0)
  return further <= MAX_STARS_IN_NAMES && folders + further <= MAX_STARS
}

/** How fast-glob matches what `expandPatterns` returns. */
export const GLOB_OPTIONS = {
  braceExpansion: false,
  deep: 50,
  extglob: false,
  followSymbolicLinks: false,
  suppressErrors: true,
} as const

export function isInsidePattern(value: string): boolean {
  if (/[\\\u0000-\u001f\u007f-\u009f]/.test(value) || /^(?:[/!]|[A-Za-z]:)/.test(value)) return false
  return value.split(/[/{},]/).every((part) => part !== '..')
}
