/**
 * Looking one path up in git's index file (versions 2, 3 and 4; git's own format documentation, "index-format"). Read
 * here because asking `git` would let a cloned repository's configuration run commands.
 */

const HEADER_BYTES = 12
/** ctime, mtime, dev, ino, mode, uid, gid, size: what stands before the hash. */
const STAT_BYTES = 40
const EXTENDED_FLAG = 0x4000
const STAGE_MASK = 0x3000

/** The length of an object's name in bytes: SHA-1, or SHA-256 where the repository says so. */
export type HashBytes = 20 | 32

/**
 * The object name (hex) of the entry for `path`, relative to the work tree with `/`; undefined when git does not track
 * it, or when the index is none that we can read.
 */
export function findIndexEntry(index: Uint8Array, path: string, hashBytes: HashBytes): string | undefined {
  const view = new DataView(index.buffer, index.byteOffset, index.byteLength)
  if (index.length < HEADER_BYTES || view.getUint32(0) !== 0x44495243) return undefined
  const version = view.getUint32(4)
  if (version < 2 || version > 4) return undefined
  const count = view.getUint32(8)
  const wanted = new TextEncoder().encode(path)
  let offset = HEADER_BYTES
  let name: Uint8Array = new Uint8Array()
  for (let entry = 0; entry < count; entry++) {
    const hashAt = offset + STAT_BYTES
    const flagsAt = hashAt + hashBytes
    if (flagsAt + 4 > index.length) return undefined
    const flags = view.getUint16(flagsAt)
    let nameAt = flagsAt + (version >= 3 && (flags & EXTENDED_FLAG) !== 0 ? 4 : 2)
    let kept = 0
    if (version === 4) {
      const removed = readOffset(index, nameAt)
      nameAt = removed.next
      kept = Math.max(0, name.length - removed.value)
    }
    const end = index.indexOf(0, nameAt)
    if (end === -1) return undefined
    const rest = index.subarray(nameAt, end)
    name = kept === 0 ? rest : concatenate(name.subarray(0, kept), rest)
    if ((flags & STAGE_MASK) === 0 && isEqual(name, wanted)) return toHex(index.subarray(hashAt, flagsAt))
    // Versions 2 and 3 pad an entry with 1 to 8 NULs to a multiple of eight.
    offset = version === 4 ? end + 1 : offset + (Math.floor((end - offset) / 8) + 1) * 8
  }
  return undefined
}

/** Version 4's variable-width number: how many bytes of the former name go. */
function readOffset(bytes: Uint8Array, start: number): { value: number; next: number } {
  let next = start
  let byte = bytes[next++] ?? 0
  let value = byte & 0x7f
  while ((byte & 0x80) !== 0 && next < bytes.length) {
    byte = bytes[next++] ?? 0
    value = (value + 1) * 128 + (byte & 0x7f)
  }
  return { value, next }
}

function concatenate(one: Uint8Array, other: Uint8Array): Uint8Array {
  const whole = new Uint8Array(one.length + other.length)
  whole.set(one)
  whole.set(other, one.length)
  return whole
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at])
}

function toHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
