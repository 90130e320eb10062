/** `node:crypto` takes 3 ms to load, and ids are not secret. */

const ID_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** Lower case: some file systems ignore case. */
export function newMarkerId(): string {
  return `pf_${randomCharacters(12)}`
}

export function newRunId(): string {
  return `wf_${randomCharacters(12)}`
}

export function randomCharacters(count: number): string {
  return Array.from({ length: count }, () => ID_ALPHABET[Math.floor(Math.random() * ID_ALPHABET.length)]).join('')
}

export function newNonce(): string {
  return process.getBuiltinModule('node:crypto').randomBytes(16).toString('hex')
}

export function sha256(data: string | Uint8Array): string {
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(data).digest('hex')
}
