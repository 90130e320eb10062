/** A git index file, written after git's own format documentation ("index-format"), for reading it back. */

export interface Entry {
  /** One character per byte. */
  readonly path: string
  readonly stage?: number
  /** The second 16 flags; versions 3 and 4. */
  readonly extended?: number
  /** Set in the first 16 flags as well. */
  readonly flagBits?: number
  readonly modified?: readonly [number, number]
  readonly size?: number
  /** Every byte of the object's name. */
  readonly byte?: number
  /** Version 4: how many bytes of the former path go; else as many as must. */
  readonly removes?: number
}

export function indexOf(
  version: 2 | 3 | 4,
  entries: readonly Entry[],
  hashBytes: 20 | 32 = 20,
  count: number = entries.length,
): Uint8Array {
  const bytes: number[] = [...latin1('DIRC'), ...int32(version), ...int32(count)]
  let former = ''
  for (const entry of entries) {
    const { path, stage = 0, extended, flagBits = 0, modified = [0, 0], size = 0, byte = 0xab } = entry
    const start = bytes.length
    bytes.push(...int32(1), ...int32(2), ...int32(modified[0]), ...int32(modified[1]))
    for (const field of [3, 4, 0o100644, 5, 6]) bytes.push(...int32(field))
    bytes.push(...int32(size), ...Array<number>(hashBytes).fill(byte))
    const flags = flagBits | (stage << 12) | (extended === undefined ? 0 : 0x4000) | Math.min(path.length, 0xfff)
    bytes.push(...int16(flags), ...(extended === undefined ? [] : int16(extended)))
    if (version === 4) {
      const kept = entry.removes === undefined ? commonLength(former, path) : 0
      bytes.push(...offsetNumber(entry.removes ?? former.length - kept))
      for (const code of latin1(path.slice(kept))) bytes.push(code)
      bytes.push(0)
    } else {
      for (const code of latin1(path)) bytes.push(code)
      // One to eight NULs, to a multiple of eight from the entry's beginning.
      do bytes.push(0)
      while ((bytes.length - start) % 8 !== 0)
    }
    former = path
  }
  // The checksum, which nobody who only reads needs.
  return Uint8Array.from([...bytes, ...Array<number>(hashBytes).fill(0xcd)])
}

/** The variable-width number of pack files' offsets. */
function offsetNumber(value: number): number[] {
  const bytes = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) {
    rest -= 1
    bytes.unshift(0x80 | (rest & 0x7f))
  }
  return bytes
}

function commonLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return length
}

function latin1(text: string): number[] {
  return Array.from(text, (character) => character.charCodeAt(0))
}

function int32(value: number): number[] {
  return [value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff]
}

function int16(value: number): number[] {
  return [value >>> 8, value & 0xff]
}
