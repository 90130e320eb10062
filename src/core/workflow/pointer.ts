/** JSON pointers (RFC 6901). */

/** True for the text of a pointer: empty, or beginning with `/`, with `~` only as `~0` and `~1`. */
export function isPointer(text: string): boolean {
  return /^(?:\/(?:[^~/]|~[01])*)*$/.test(text)
}

/** What a pointer points at; undefined where there is nothing. Own properties only. */
export function resolvePointer(value: unknown, pointer: string): unknown {
  let current = value
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof current !== 'object' || current === null) return undefined
    if (!Object.hasOwn(current, key) || (Array.isArray(current) && key === 'length')) return undefined
    current = (current as Record<string, unknown>)[key]
  }
  return current
}
