/**
 * Looking paths up in git's index file (versions 2, 3 and 4; git's own format documentation, "index-format"). Read
 * here because asking `git` would let a cloned repository's configuration run commands.
 */

const HEADER_BYTES = 12
/** ctime, mtime, dev, ino, mode, uid, gid, size: what stands before the hash. */
const STAT_BYTES = 40
const MODIFIED_AT = 8
const SIZE_AT = 36
const EXTENDED_FLAG = 0x4000
const STAGE_MASK = 0x3000
/** Of the extended flags: `git add -N` names the path, but tracks no content yet. */
const INTENT_TO_ADD = 0x2000
/** No file of a longer path was ever checked out; version 4 would let a hostile index grow one without bounds. */
const MAX_PATH_BYTES = 4096

/** The length of an object's name in bytes: SHA-1, or SHA-256 where the repository says so. */
export type HashBytes = 20 | 32

/** What git tracks at a path, and what the file was like when git last saw it so. */
export interface IndexEntry {
  /** The object's name, in hex. */
  readonly object: string
  /** The file's last change: seconds and nanoseconds. Zero where git does not know. */
  readonly modified: readonly [seconds: number, nanoseconds: number]
  /** In bytes, modulo 2^32. */
  readonly size: number
}

/**
 * The entries whose file name (without folders) is one of `fileNames`, by their path: relative to the work tree, with
 * `/`, one character per byte (latin1), because a path need not be UTF-8. Empty for an index that we cannot read.
 */
export function findIndexEntries(
  index: Uint8Array,
  fileNames: readonly string[],
  hashBytes: HashBytes,
): Map<string, IndexEntry> {
  const found = new Map<string, IndexEntry>()
  const view = new DataView(index.buffer, index.byteOffset, index.byteLength)
  if (index.length < HEADER_BYTES || view.getUint32(0) !== 0x44495243) return found
  const version = view.getUint32(4)
  if (version < 2 || version > 4) return found
  const count = view.getUint32(8)
  const endings = fileNames.map((name) => bytesOf(name))
  let offset = HEADER_BYTES
  let name: Uint8Array = new Uint8Array()
  for (let entry = 0; entry < count; entry++) {
    const hashAt = offset + STAT_BYTES
    const flagsAt = hashAt + hashBytes
    if (flagsAt + 4 > index.length) return found
    const flags = view.getUint16(flagsAt)
    const isExtended = version >= 3 && (flags & EXTENDED_FLAG) !== 0
    let nameAt = flagsAt + (isExtended ? 4 : 2)
    let kept = 0
    if (version === 4) {
      const removed = readOffset(index, nameAt)
      nameAt = removed.next
      kept = Math.max(0, name.length - removed.value)
    }
    const end = index.indexOf(0, nameAt)
    if (end === -1 || kept + end - nameAt > MAX_PATH_BYTES) return found
    const rest = index.subarray(nameAt, end)
    name = kept === 0 ? rest : concatenate(name.subarray(0, kept), rest)
    const isContent = (flags & STAGE_MASK) === 0 && !(isExtended && (view.getUint16(flagsAt + 2) & INTENT_TO_ADD) !== 0)
    if (isContent && endings.some((ending) => isFileName(name, ending))) {
      found.set(textOf(name), {
        object: toHex(index.subarray(hashAt, flagsAt)),
        modified: [view.getUint32(offset + MODIFIED_AT), view.getUint32(offset + MODIFIED_AT + 4)],
        size: view.getUint32(offset + SIZE_AT),
      })
    }
    // Versions 2 and 3 pad an entry with 1 to 8 NULs to a multiple of eight.
    offset = version === 4 ? end + 1 : offset + (Math.floor((end - offset) / 8) + 1) * 8
  }
  return found
}

/** Version 4's variable-width number: how many bytes of the former name go. */
function readOffset(bytes: Uint8Array, start: number): { value: number; next: number } {
  let next = start
  let byte = bytes[next++] ?? 0
  let value = byte & 0x7f
  // Behind the end stand zeros, and a zero ends a number.
  while ((byte & 0x80) !== 0) {
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

const SLASH = 0x2f

function isFileName(path: Uint8Array, name: Uint8Array): boolean {
  const start = path.length - name.length
  if (start > 0 && path[start - 1] !== SLASH) return false
  return name.every((byte, at) => path[start + at] === byte)
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

function textOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
