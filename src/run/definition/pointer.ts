/** JSON pointers (RFC 6901). */

/** A valid pointer: empty, or beginning with `/`, with `~` only as `~0` and `~1`. */
export const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/

/** The value at a pointer; undefined if there is none. Only own properties count. */
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
